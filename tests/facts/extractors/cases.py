"""Every way in which a model can answer or fail, with the expected outcome."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memctx.errors import ExtractionError
from memctx.facts.extractors import (
    AnthropicExtractor,
    ClientOptions,
    Known,
    Message,
    OpenAIExtractor,
    Request,
)

from .server import (
    close,
    fact,
    facts,
    filtered,
    hang,
    raw,
    refuse,
    reply,
    serving,
    status,
    trickle,
    truncated,
    without_schema,
)

if TYPE_CHECKING:
    from memctx.facts.extractors import ExtractionResult

    from .server import Act

KEY = "sk-not-a-key-but-looks-like-one"
TELLTALE = "the heron flies at dawn"
REQUEST = Request(
    (
        Message("user", f"Move the webhook to port 8443; {TELLTALE}", "s1"),
        Message("assistant", f"Done, it listens on 8443 now. {TELLTALE}", "s2"),
    ),
    known=(Known("11111111-aaaa", "config", f"The webhook listens on 8080, {TELLTALE}"),),
)
GOOD = facts(fact("The webhook listens on port 8443", action="supersede", known=1))
TWO = facts(fact("The webhook listens on port 8443"), fact("支付回调改到 8443", messages=[2]))
APIS = ("anthropic", "openai")


@dataclass(frozen=True)
class Case:
    """Behavior of a model, and the expected outcome."""

    name: str
    acts: tuple[Act, ...]
    facts: int | None = None
    """Number of facts found; None where an error is raised."""
    error: str | None = None
    """``later``: worth another try; ``malformed``: worth few; ``final``: not this request; ``dead``: no request."""
    calls: int = 1
    problem: str | None = None
    """Part of the reported problem."""
    retry_after: float | None = None
    at_least: float = 0.0
    """Seconds that must pass."""
    options: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Outcome:
    """Outcome of an extraction."""

    calls: int
    seconds: float
    extraction: ExtractionResult | None = None
    error: ExtractionError | None = None

    @property
    def kind(self) -> str | None:
        """Kind of the error."""
        if self.error is None:
            return None
        kinds = {
            "permanent": self.error.is_permanent,
            "rejected": not self.error.is_retryable,
            "malformed": self.error.is_malformed,
        }
        return next((kind for kind, is_so in kinds.items() if is_so), "later")

    def __str__(self) -> str:
        calls = f"{self.calls} call{'s' * (self.calls != 1)}"
        if self.error is not None:
            after = f", retry after {self.error.retry_after:g} s" if self.error.retry_after else ""
            return f"{calls}: {self.kind}{after}: {self.error}"
        assert self.extraction is not None
        number = len(self.extraction.candidates)
        problems = "".join(f"; {problem}" for problem in self.extraction.problems[:2])
        return f"{calls}: {number} fact{'s' * (number != 1)}{problems}"


def cut(text: str, share: float) -> str:
    return text[: int(len(text) * share)]


BUSY = status(529, "overloaded_error")
CASES = [
    Case("answer", (reply(TWO),), facts=2),
    Case("answer without facts", (reply(facts()),), facts=0),
    Case("fenced JSON", (reply(f"Here they are:\n```json\n{TWO}\n```\nThat is all."),), facts=2),
    Case("JSON after prose with brackets", (reply(f"I see {{two}} [1]: {TWO}"),), facts=2),
    Case("a bare list", (reply(json.dumps([fact("Port 8443 is used")])),), facts=1),
    Case(
        "100 facts",
        (reply(facts(*(fact(f"Port {n} is used") for n in range(100)))),),
        facts=15,
        problem="85 facts left out",
    ),
    Case(
        "unknown target",
        (reply(facts(fact("Port 8443 is used", action="supersede", known=7))),),
        facts=1,
        problem="names no known fact",
    ),
    Case(
        "some wrong types",
        (reply(facts(fact("Port 8443 is used"), 7, fact("x", type="rumor"), {"content": 5})),),
        facts=1,
        problem="fact 2 is a number",
    ),
    Case("only wrong types", (reply(facts(7, None, ["x"])),), error="malformed"),
    Case(
        "malformed JSON",
        (reply('{"facts": [{"type": "config", "content": "por'),),
        error="malformed",
    ),
    Case("broken JSON, whole facts in it", (reply(cut(TWO, 0.8)),), facts=1, problem="broken JSON"),
    Case("prose", (reply("There is nothing of note here."),), error="malformed"),
    Case(
        "cut at the token limit", (reply(cut(TWO, 0.8), is_cut=True),), facts=1, problem="cut off"
    ),
    Case("cut before the first fact", (reply(cut(TWO, 0.2), is_cut=True),), error="malformed"),
    Case("refusal", (refuse,), error="rejected"),
    Case("filtered", (filtered,), error="rejected"),
    Case(
        "small model fails, large one asked",
        (reply("?"), reply(GOOD)),
        facts=1,
        calls=2,
        options={"small_model": "small"},
    ),
    Case(
        "429, retry-after 0.3",
        (status(429, "rate_limit_error", retry_after="0.3"), reply(GOOD)),
        facts=1,
        calls=2,
        at_least=0.3,
    ),
    Case(
        "429, retry-after-ms 200",
        (status(429, "rate_limit_error", retry_after_ms="200"), reply(GOOD)),
        facts=1,
        calls=2,
        at_least=0.2,
    ),
    Case(
        "429, retry-after 3600",
        (status(429, "rate_limit_error", retry_after="3600"),),
        error="later",
        retry_after=3600,
    ),
    Case("429 for good", (status(429, "rate_limit_error"),), error="later", calls=3),
    Case("quota used up", (status(429, "insufficient_quota"),), error="permanent"),
    Case("500 once", (status(500, "api_error"), reply(GOOD)), facts=1, calls=2),
    Case("503 for good", (status(503, "api_error"),), error="later", calls=3),
    Case("529 overloaded twice", (BUSY, BUSY, reply(GOOD)), facts=1, calls=3),
    Case(
        "time-out once",
        (hang(5.0), reply(GOOD)),
        facts=1,
        calls=2,
        at_least=0.7,
        options={"timeout": 0.7},
    ),
    Case("time-out for good", (hang(5.0),), error="later", calls=3, options={"timeout": 0.3}),
    Case(
        "a byte now and then",
        (trickle(5.0), reply(GOOD)),
        facts=1,
        calls=2,
        at_least=0.7,
        options={"timeout": 0.7},
    ),
    Case("connection closed", (close, reply(GOOD)), facts=1, calls=2),
    Case("truncated stream", (truncated(GOOD), reply(GOOD)), facts=1, calls=2),
    Case("truncated for good", (truncated(GOOD),), error="later", calls=3),
    Case(
        "a page instead of JSON",
        (raw(b"<html>busy</html>", "text/html"), reply(GOOD)),
        facts=1,
        calls=2,
    ),
    Case("a body that is no JSON", (raw(b'{"content": ['), reply(GOOD)), facts=1, calls=2),
    Case(
        "JSON of another kind",
        (raw(b'{"content": 5, "choices": {}, "usage": "x"}'),),
        error="malformed",
    ),
    Case("400", (status(400, "invalid_request_error"),), error="rejected", calls=2),
    Case("400 for the schema", (without_schema(reply(GOOD)),), facts=1, calls=2),
    Case("401", (status(401, "authentication_error"),), error="permanent"),
    Case("402", (status(402, "billing_error"),), error="permanent"),
    Case("403", (status(403, "permission_error"),), error="permanent"),
    Case("404, no such model", (status(404, "not_found_error"),), error="permanent"),
    Case("413, too long", (status(413, "invalid_request_error"),), error="rejected"),
]


def extractor_at(api: str, url: str, **options: Any) -> AnthropicExtractor | OpenAIExtractor:
    """Return an extractor for the local model server."""
    connection: dict[str, Any] = {
        "timeout": options.pop("timeout", 30.0),
        "max_retries": options.pop("max_retries", 2),
        "api_key": KEY,
    }
    if api == "anthropic":
        return AnthropicExtractor(
            "large", options=ClientOptions(base_url=url, **connection), **options
        )
    return OpenAIExtractor(
        "large", options=ClientOptions(base_url=f"{url}/v1", **connection), **options
    )


def outcome_of(case: Case, api: str) -> Outcome:
    """Run a case and return its outcome."""
    with serving(*case.acts) as model:
        extractor = extractor_at(api, model.url, **case.options)
        started = time.monotonic()
        extraction = error = None
        try:
            extraction = asyncio.run(extractor.extract(REQUEST))
        except ExtractionError as raised:
            error = raised
        return Outcome(len(model.calls), time.monotonic() - started, extraction, error)
