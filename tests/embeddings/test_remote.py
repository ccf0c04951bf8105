"""Remote embedders over HTTP: requests, responses and failures."""

from __future__ import annotations

import logging
import os
import socket
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from facts.extractors.server import close, hang, raw, status, trickle
from memctx import ConfigError
from memctx.embeddings import ClientOptions, GeminiEmbedder, OpenAIEmbedder, VoyageEmbedder
from memctx.embeddings.remote import endpoint
from memctx.errors import EmbeddingError
from memctx.providers import sdk
from memctx.providers.retry import RetryPolicy

from .apis import APIS, DIM, KEY, embedder_at, embeds, make, plain, serving, texts_in, unit_of

if TYPE_CHECKING:
    from memctx.embeddings.remote.embedder import RemoteEmbedder
    from memctx.protocols import Embedder

pytestmark = pytest.mark.timing  # timeouts of a fraction of a second

TEXTS = ["the heron stands", "支付回调的端口", "port 8443", "a" * 50]


def dead_url() -> str:
    """Return the address of a closed port."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{unused.getsockname()[1]}"


# Requests and responses


@pytest.mark.parametrize("api", APIS)
def test_a_remote_embedder_satisfies_the_protocol(api: str) -> None:
    embedder: Embedder = embedder_at(api, "http://127.0.0.1:1")
    assert (embedder.name, embedder.dim) == ("model", DIM)


def test_requests_to_openai() -> None:
    with serving(embeds()) as model:
        embedder = OpenAIEmbedder(
            "m",
            options=ClientOptions(base_url=f"{model.url}/v1/", api_key=KEY),
            dimensions=DIM,
            query_prefix="q: ",
        )
        embedder.embed("heron")
        embedder.embed_many(["one", "two"])
    query, texts = model.calls
    assert query.path == texts.path == "/v1/embeddings"
    assert query.headers["authorization"] == f"Bearer {KEY}"
    assert query.headers["content-type"] == "application/json"
    rest = {"model": "m", "encoding_format": "base64", "dimensions": DIM}
    assert query.body == {"input": ["q: heron"], **rest}
    assert texts.body == {"input": ["one", "two"], **rest}


def test_requests_to_voyage() -> None:
    with serving(embeds()) as model:
        embedder = embedder_at("voyage", model.url, dimensions=DIM)
        embedder.embed("heron")
        embedder.embed_many(["one", "two"])
    query, texts = model.calls
    assert query.path == texts.path == "/v1/embeddings"
    assert query.headers["authorization"] == f"Bearer {KEY}"
    rest = {
        "model": "model",
        "truncation": True,
        "encoding_format": "base64",
        "output_dimension": DIM,
    }
    assert query.body == {"input": ["heron"], "input_type": "query", **rest}
    assert texts.body == {"input": ["one", "two"], "input_type": "document", **rest}


def test_requests_to_gemini() -> None:
    with serving(embeds()) as model:
        embedder = embedder_at("gemini", model.url, dimensions=DIM)
        embedder.embed("heron")
        embedder.embed_many(["one", "two"])
    query, texts = model.calls
    assert query.path == "/v1/models/model:embedContent"
    assert texts.path == "/v1/models/model:batchEmbedContents"
    assert query.headers["x-goog-api-key"] == KEY

    def content(text: str, task: str) -> dict[str, Any]:
        return {
            "model": "models/model",
            "content": {"parts": [{"text": text}]},
            "taskType": task,
            "outputDimensionality": DIM,
        }

    assert query.body == content("heron", "RETRIEVAL_QUERY")
    expected = [content(text, "RETRIEVAL_DOCUMENT") for text in ("one", "two")]
    assert texts.body == {"requests": expected}


def test_a_model_without_task_types_gets_prompts() -> None:
    with serving(embeds()) as model:
        embedder = GeminiEmbedder(
            "models/gemini-embedding-2",
            options=ClientOptions(api_key=KEY, base_url=model.url),
            dimensions=DIM,
        )
        embedder.embed("heron")
        embedder.embed_many(["heron"])
    assert [texts_in(call) for call in model.calls] == [
        ["task: search result | query: heron"],
        ["title: none | text: heron"],
    ]
    assert "taskType" not in model.calls[0].body
    assert model.calls[0].body["model"] == "models/gemini-embedding-2"


@pytest.mark.parametrize("form", ["numbers", "base64", "shuffled"])
@pytest.mark.parametrize("api", APIS)
def test_vectors_come_back_in_the_order_of_the_texts(api: str, form: str) -> None:
    act = embeds(is_base64=form == "base64", is_shuffled=form == "shuffled")
    with serving(act) as model:
        embedder = embedder_at(api, model.url, batch_size=3)
        matrix = embedder.embed_many(TEXTS)
        vector = embedder.embed(TEXTS[1])
    assert len(model.calls) == 3
    assert matrix.dtype == vector.dtype == np.float32
    np.testing.assert_allclose(matrix, [unit_of(text) for text in TEXTS], atol=1e-6)
    np.testing.assert_allclose(vector, unit_of(TEXTS[1]), atol=1e-6)


@pytest.mark.parametrize("api", APIS)
def test_batches_are_limited_by_count_and_by_characters(api: str) -> None:
    with serving(embeds()) as model:
        embedder = embedder_at(api, model.url, batch_size=2)
        embedder.embed_many(["a", "b", "c"])
        model.calls.clear()
        embedder._batch = type(embedder._batch)(100, 10)  # noqa: SLF001 - real limits are megabytes
        embedder.embed_many(["a" * 6, "b" * 6, "c" * 30, "d"])
    assert [len(texts_in(call)) for call in model.calls] == [1, 1, 1, 1]


@pytest.mark.parametrize("api", APIS)
def test_no_texts_send_no_request(api: str) -> None:
    assert embedder_at(api, dead_url()).embed_many([]).shape == (0, DIM)


@pytest.mark.parametrize("api", APIS)
def test_a_text_is_truncated_at_the_limit_of_the_model(api: str) -> None:
    with serving(embeds()) as model:
        embedder = embedder_at(api, model.url, max_tokens=100)
        embedder.embed_many(["a" * 1000, "口" * 1000, "short"])
        embedder.embed("b" * 1000)
    assert texts_in(model.calls[0]) == ["a" * 300, "口" * 100, "short"]
    assert texts_in(model.calls[1]) == ["b" * 300]


@pytest.mark.parametrize("api", APIS)
def test_a_rejected_text_is_shortened_until_it_fits(api: str) -> None:
    def strict(handler: Any) -> None:
        is_long = any(len(text) > 500 for text in texts_in(handler))
        (status(400, "invalid_request_error") if is_long else embeds())(handler)

    with serving(strict) as model:
        embedder = embedder_at(api, model.url)
        assert embedder.embed_many(["a" * 5000]).shape == (1, DIM)
        assert [len(texts_in(call)[0]) for call in model.calls] == [5000, 1250, 312]
        # Of several texts the rejected one is unknown: the caller sends them one by one.
        with pytest.raises(EmbeddingError, match="status 400") as caught:
            embedder.embed_many(["a" * 5000, "b"])
        with pytest.raises(EmbeddingError, match="status 400"):
            embedder.embed("a" * 5000)
    assert not caught.value.is_retryable
    assert len(model.calls) == 5


@pytest.mark.parametrize("api", APIS)
def test_shortening_a_rejected_text_ends(api: str) -> None:
    with serving(status(400, "invalid_request_error")) as model:
        with pytest.raises(EmbeddingError, match="status 400"):
            embedder_at(api, model.url).embed_many(["口" * 2000])
        assert [len(texts_in(call)[0]) for call in model.calls] == [2000, 500, 125, 31]


@pytest.mark.parametrize("text", ["", " \n"])
@pytest.mark.parametrize("api", APIS)
def test_an_empty_text_has_no_vector(api: str, text: str) -> None:
    embedder = embedder_at(api, dead_url())
    with pytest.raises(EmbeddingError, match="empty"):
        embedder.embed(text)
    with pytest.raises(EmbeddingError, match="empty"):
        embedder.embed_many(["good", text])
    with pytest.raises(ConfigError, match="a list of texts"):
        embedder.embed_many("good")


# The dimension and the stamp


def test_known_models_have_their_dimension_without_a_request() -> None:
    options = ClientOptions(api_key=KEY)
    assert OpenAIEmbedder(options=options).dim == 1536
    assert OpenAIEmbedder("text-embedding-3-large", options=options).dim == 3072
    assert OpenAIEmbedder("text-embedding-3-large", options=options, dimensions=256).dim == 256
    assert GeminiEmbedder(options=options).dim == 3072
    assert VoyageEmbedder(options=options).dim == 1024


@pytest.mark.parametrize("api", APIS)
def test_an_unknown_model_is_asked_once_for_its_dimension(api: str) -> None:
    with serving(embeds()) as model:
        embedder = embedder_at(api, model.url, dim=None)
        assert model.calls == []
        assert [embedder.dim, embedder.dim] == [DIM, DIM]
        assert len(model.calls) == 1
        learning = embedder_at(api, model.url, dim=None)
        learning.embed_many(["a"])
        assert learning.dim == DIM
    assert len(model.calls) == 2
    with pytest.raises(EmbeddingError, match="connection to model failed") as caught:
        assert embedder_at(api, dead_url(), dim=None).dim
    assert caught.value.is_retryable


def test_the_revision_changes_with_the_vectors_and_not_with_the_server() -> None:
    def revision(**settings: Any) -> str:
        return embedder_at("openai", **{"url": "http://a", "dim": None, **settings}).revision

    plain_one = revision()
    assert plain_one == revision(url="http://b", api_key="other", batch_size=2, timeout=1, dim=DIM)
    prefixed = [revision(query_prefix="q: "), revision(text_prefix="q: ")]
    others = [revision(dimensions=256), revision(dimensions=512), *prefixed]
    assert len({plain_one, *others}) == 5


# Failures


@pytest.mark.parametrize("api", APIS)
def test_transient_statuses_are_retried(api: str) -> None:
    with serving(status(500, "api_error"), status(503, "x"), embeds()) as model:
        matrix = embedder_at(api, model.url).embed_many(TEXTS)
    assert len(model.calls) == 3
    np.testing.assert_allclose(matrix, [unit_of(text) for text in TEXTS], atol=1e-6)


@pytest.mark.parametrize(
    "act",
    [status(500, "api_error"), close, raw(b"<html>"), raw(b"[1]")],
    ids=["status", "close", "html", "list"],
)
@pytest.mark.parametrize("api", APIS)
def test_retries_are_limited_and_queries_have_none(api: str, act: Any) -> None:
    with serving(act) as model:
        embedder = embedder_at(api, model.url, max_retries=2)
        with pytest.raises(EmbeddingError) as caught:
            embedder.embed_many(["a"])
        assert caught.value.is_retryable
        assert len(model.calls) == 3
        with pytest.raises(EmbeddingError) as caught:
            embedder.embed("a")
        assert caught.value.is_retryable
        assert len(model.calls) == 4


@pytest.mark.parametrize("api", APIS)
def test_retry_after_is_respected(api: str) -> None:
    with serving(status(429, "rate_limit_error", retry_after="0.15"), embeds()) as model:
        assert embedder_at(api, model.url).embed_many(["a"]).shape == (1, DIM)
    first, second = model.calls
    assert 0.15 <= second.at - first.at < 5


@pytest.mark.parametrize("api", APIS)
def test_a_long_retry_after_is_left_to_the_caller(api: str) -> None:
    with (
        serving(status(429, "rate_limit_error", retry_after="99")) as model,
        pytest.raises(EmbeddingError, match=r"status 429 \(rate_limit_error\)") as caught,
    ):
        embedder_at(api, model.url).embed_many(["a"])
    assert (caught.value.is_retryable, caught.value.retry_after) == (True, 99)
    assert len(model.calls) == 1


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (301, "moved"),
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (403, "PERMISSION_DENIED"),
        (404, "not_found_error"),
        (413, "too_large"),
        (429, "insufficient_quota"),
    ],
)
@pytest.mark.parametrize("api", APIS)
def test_permanent_failures_are_not_retried(api: str, code: int, kind: str) -> None:
    with (
        serving(status(code, kind, location="http://127.0.0.1:1/")) as model,
        pytest.raises(EmbeddingError, match=rf"model .* {code} \({kind}\)") as caught,
    ):
        embedder_at(api, model.url).embed_many(["a"])
    assert not caught.value.is_retryable
    assert len(model.calls) == 1


@pytest.mark.parametrize("api", APIS)
def test_a_closed_port_is_a_transient_failure(api: str) -> None:
    embedder = embedder_at(api, dead_url(), max_retries=1)
    with pytest.raises(EmbeddingError, match="connection to model failed") as query:
        embedder.embed("a")
    with pytest.raises(EmbeddingError, match="connection to model failed") as texts:
        embedder.embed_many(["a"])
    assert query.value.is_retryable
    assert texts.value.is_retryable


@pytest.mark.parametrize("act", [hang(2), trickle(2)], ids=["hangs", "trickles"])
@pytest.mark.parametrize("api", APIS)
def test_a_server_that_hangs_times_out(api: str, act: Any) -> None:
    with serving(act) as model:
        embedder = embedder_at(api, model.url, timeout=0.3, query_timeout=0.3, max_retries=1)
        start = time.monotonic()
        with pytest.raises(EmbeddingError, match="did not answer in time") as caught:
            embedder.embed("a")
        assert time.monotonic() - start < 1
        assert caught.value.is_retryable
        with pytest.raises(EmbeddingError, match="did not answer in time"):
            embedder.embed_many(["a"])
    assert len(model.calls) == 3


BAD_ROWS = {
    "too few": (lambda texts: plain(texts)[1:], "no |vectors for"),
    "too many": (lambda texts: plain([*texts, "one more"]), "vectors for"),
    "too short": (lambda texts: [row[1:] for row in plain(texts)], "a vector of 7"),
    "of several lengths": (
        lambda texts: [[1.0] * n for n, _ in enumerate(texts, 8)],
        "vector of 9",
    ),
    "not a number": (lambda texts: [[float("nan"), *row[1:]] for row in plain(texts)], "finite"),
    "too large": (lambda texts: [[1e300, *row[1:]] for row in plain(texts)], "finite"),
    "zeros": (lambda texts: [[0.0] * DIM for _ in texts], "zeros"),
    "words": (lambda texts: [["a"] * DIM for _ in texts], "no vector of numbers"),
    "null": (lambda texts: [None for _ in texts], "no "),
}


@pytest.mark.parametrize("case", BAD_ROWS)
@pytest.mark.parametrize("api", APIS)
def test_invalid_vectors_are_rejected(api: str, case: str) -> None:
    rows, words = BAD_ROWS[case]
    with serving(embeds(rows)) as model, pytest.raises(EmbeddingError, match=words):
        embedder_at(api, model.url).embed_many(["a", "b"])
    assert len(model.calls) == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"{",
        b"{}",
        b'{"data": 5, "embeddings": 5}',
        b'{"data": [], "embeddings": []}',
        b'{"data": [5, 6], "embeddings": [5, 6]}',
        b'{"data": [{"index": 0}, {"index": 0}], "embeddings": [{}, {}]}',
        b'{"data": [{"index": 1}, {"index": 2}], "embeddings": [{"values": {}}]}',
        b'{"data": [{"index": "0"}, {"index": true}], "embedding": {"values": 3}}',
        b'{"data": [{"index": 0, "embedding": "?"}, {"index": 1, "embedding": "AAA="}]}',
        b"[" * 100_000,
        b"\xff\xfe",
    ],
)
@pytest.mark.parametrize("api", APIS)
def test_malformed_responses_are_rejected(api: str, answer: bytes) -> None:
    with serving(raw(answer)) as model:
        embedder = embedder_at(api, model.url, max_retries=0)
        with pytest.raises(EmbeddingError):
            embedder.embed_many(["a", "b"])
        with pytest.raises(EmbeddingError):
            embedder.embed("a")


def test_an_endless_response_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "MAX_RESPONSE_BYTES", 1000)
    refused = pytest.raises(EmbeddingError, match="a response of more than 1,000 bytes")
    with serving(raw(b" " * 100_000)) as model, refused:
        embedder_at("openai", model.url).embed("a")


def test_closing_ends_the_wait_for_the_next_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    def delay(*_: object) -> float:
        threading.Timer(0.02, embedder.close).start()
        return 20.0

    monkeypatch.setattr(RetryPolicy, "delay", delay)
    with serving(status(500, "api_error")) as model:
        embedder = embedder_at("openai", model.url)
        start = time.monotonic()
        with pytest.raises(EmbeddingError, match="status 500"):
            embedder.embed_many(["a"])
        assert time.monotonic() - start < 5
        with pytest.raises(EmbeddingError, match="was closed"):
            embedder.embed("a")
        embedder.close()
    assert len(model.calls) == 1


def test_a_forked_child_opens_connections_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(embeds()) as model:
        embedder = embedder_at("openai", model.url)
        embedder.embed("a")
        parent = embedder._endpoint._client  # noqa: SLF001 - not visible otherwise
        embedder.embed("b")
        assert embedder._endpoint._client is parent  # noqa: SLF001
        with monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: -1)
            embedder.embed("c")
            assert embedder._endpoint._client is not parent  # noqa: SLF001
        assert parent is not None
        parent.close()


# Settings and keys


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"dimensions": 0}, "dimensions must be at least 1, not 0"),
        ({"dim": -1}, "dim must be at least 1, not -1"),
        ({"dim": 0}, "dim must be at least 1, not 0"),
        ({"dim": 3, "dimensions": 4}, "dim is 3, but dimensions asks for 4"),
        ({"max_tokens": 0}, "max_tokens must be at least 1"),
        ({"batch_size": 0}, "batch_size must be at least 1"),
        ({"timeout": 0}, "timeout must be a number of seconds above 0"),
        ({"query_timeout": float("nan")}, "query_timeout must be"),
        ({"max_retries": -1}, "max_retries must be 0 or more"),
        ({"base_url": "localhost:80"}, "must begin with http"),
        ({"base_url": "ftp://a/b"}, "must begin with http"),
        ({"base_url": f"http://u:{KEY}@host/v1"}, "a key is given as api_key"),
        ({"base_url": f"http://host/v1?key={KEY}"}, "a key is given as api_key"),
        ({"api_key": f"{KEY}\n{KEY}"}, "contains characters that no key has"),
        ({"api_key": f"{KEY}é"}, "contains characters that no key has"),
    ],
)
@pytest.mark.parametrize("api", APIS)
def test_settings_out_of_range_are_rejected(api: str, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        make(api, "model", **{"api_key": KEY, "base_url": "http://a", **settings})
    assert KEY not in str(caught.value)
    with pytest.raises(ConfigError, match="name of a model"):
        make(api, " ", api_key=KEY)


VARIABLES = [
    ("openai", "OPENAI_API_KEY"),
    ("gemini", "GEMINI_API_KEY"),
    ("gemini", "GOOGLE_API_KEY"),
    ("voyage", "VOYAGE_API_KEY"),
]


@pytest.mark.parametrize(("api", "variable"), VARIABLES)
def test_keys_are_read_from_the_environment(
    api: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match=variable):
        APIS[api]("model")
    monkeypatch.setenv(variable, f" {KEY}\n")
    with serving(embeds()) as model:
        embedder_at(api, model.url, api_key=None).embed("a")
    assert KEY in {value.removeprefix("Bearer ") for value in model.calls[0].headers.values()}


def test_a_compatible_server_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(embeds()) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        OpenAIEmbedder("m", dim=DIM).embed("a")
    assert "authorization" not in model.calls[0].headers


def test_a_missing_http_client_names_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdk, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"pip install 'memctx\[remote\]'"):
        OpenAIEmbedder(options=ClientOptions(api_key=KEY))


def test_an_http_client_that_cannot_be_imported_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    embedder = embedder_at("openai", dead_url())
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(EmbeddingError, match=r"could not be called \(ModuleNotFoundError\)"):
        embedder.embed("a")


def echoes(handler: Any) -> None:
    """Fail with the whole request in the response, as a careless server would."""
    headers = "".join(f"{name}: {value}" for name, value in handler.headers.items())
    handler.send(f'{{"error": {{"code": "{KEY}", "message": "{headers}"}}}}'.encode(), status=403)


@pytest.mark.parametrize(
    "act",
    [echoes, status(500, KEY), hang(1), close, raw(KEY.encode()), None],
    ids=["echoes", "status", "hangs", "closes", "raw", "dead"],
)
@pytest.mark.parametrize("api", APIS)
def test_a_key_is_never_shown(api: str, act: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    def fail(embedder: RemoteEmbedder) -> EmbeddingError:
        with pytest.raises(EmbeddingError) as caught:
            embedder.embed_many(["the heron"])
        return caught.value

    settings: dict[str, Any] = {"max_retries": 0, "timeout": 0.1}
    if act is None:
        embedder = embedder_at(api, dead_url(), **settings)
        error = fail(embedder)
    else:
        with serving(act) as model:
            embedder = embedder_at(api, model.url, **settings)
            error = fail(embedder)
    shown = [repr(embedder), str(embedder), repr(error), str(vars(error)), caplog.text]
    shown += traceback.format_exception(error)
    assert not any(KEY in text for text in shown)
    assert not any("heron" in text for text in shown if "test_remote" not in text)
    assert error.__context__ is None
    assert error.__cause__ is None


@pytest.mark.parametrize("api", APIS)
def test_a_key_that_looks_like_an_error_code_is_never_shown(api: str) -> None:
    with serving(status(403, "heronheron")) as model, pytest.raises(EmbeddingError) as caught:
        embedder_at(api, model.url, api_key="heronheron").embed("a")
    assert str(caught.value) == "model answered with status 403"
