"""The fake provider, through the SDKs it stands in for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anthropic
import openai
import pytest

from memctx.testing import FakeProvider, QuotingModel, assistant, tool_exchange, user

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memctx.messages import FormatName

TALK = [user("The payment webhook listens on port 8443."), assistant("Noted.")]
QUESTION = user("Which port does the payment webhook listen on?")
ANSWER = "The payment webhook listens on port 8443."


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with FakeProvider(window=1_000) as found:
        yield found


def ask_anthropic(provider: FakeProvider, messages: list[Any]) -> str:
    with anthropic.Anthropic(base_url=provider.url, api_key="none", max_retries=0) as client:
        reply = client.messages.create(model="m", max_tokens=99, messages=messages)
    assert reply.usage.input_tokens > 0
    [block] = reply.content
    assert isinstance(block, anthropic.types.TextBlock)
    return block.text


def ask_openai(provider: FakeProvider, messages: list[Any]) -> str:
    with openai.OpenAI(base_url=provider.url, api_key="none", max_retries=0) as client:
        reply = client.chat.completions.create(model="m", messages=messages)
    assert reply.usage is not None
    assert reply.usage.prompt_tokens > 0
    return reply.choices[0].message.content or ""


@pytest.mark.parametrize("ask", [ask_anthropic, ask_openai])
def test_provider_quotes_what_it_is_sent_and_nothing_else(provider: FakeProvider, ask: Any) -> None:
    assert ask(provider, [*TALK, QUESTION]) == ANSWER
    assert ask(provider, [QUESTION]) == "I do not know."
    assert ask(provider, TALK[:1]) == "Noted."
    assert len(provider.requests) == 3


@pytest.mark.parametrize(("ask", "format"), [(ask_anthropic, "anthropic"), (ask_openai, "openai")])
def test_provider_refuses_what_the_real_one_refuses(
    provider: FakeProvider, ask: Any, format: FormatName
) -> None:
    _, result = tool_exchange("read", {}, "port = 8443", format=format)
    for messages, words in (
        ([], "messages: Field required"),
        ([user("Which port?"), result], "orphan-result"),
        ([user("a word " * 2_000)], "prompt is too long"),
    ):
        with pytest.raises((anthropic.BadRequestError, openai.BadRequestError), match=words):
            ask(provider, messages)


def test_provider_has_no_other_paths_and_no_streams(provider: FakeProvider) -> None:
    said: Any = [user("Hello.")]
    with openai.OpenAI(base_url=provider.url, api_key="none", max_retries=0) as client:
        with pytest.raises(openai.NotFoundError):
            client.embeddings.create(model="m", input="a")
        with pytest.raises(openai.BadRequestError, match="does not stream"):
            client.chat.completions.create(model="m", messages=said, stream=True)


def test_quoting_model_answers_in_other_words_and_by_the_newest_statement() -> None:
    model = QuotingModel()
    region = "Which region is the shop deployed to?"
    said = [
        user(
            "The shop is deployed to the region us-east-1. Customers may send goods back for 30 days."
        ),
        assistant("Correction: the shop is deployed to the region eu-west-3 now."),
    ]
    assert (
        model([*said, user(region)])
        == "Correction: the shop is deployed to the region eu-west-3 now."
    )
    answer = "Customers may send goods back for 30 days."
    assert model([*said, user("Until when can a buyer return a product?")]) == answer
    assert model([*said, user("Who won the chess game yesterday?")]) == "I do not know."
