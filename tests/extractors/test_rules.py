"""`RulesExtractor`: what is stated outright is found, and nothing else."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx.extractors import Extractor, Message, Request
from memctx.extractors.rules import RulesExtractor

if TYPE_CHECKING:
    from memctx.knowledge import Draft


def drafts(text: str, role: str = "user", most: int = 15) -> tuple[Draft, ...]:
    request = Request((Message(role, text, "seg-1"),), most=most)
    return asyncio.run(RulesExtractor().extract(request)).drafts


@pytest.mark.parametrize(
    ("role", "text", "type", "content"),
    [
        (
            "user",
            "Please remember that the api key lives in vault.",
            "decision",
            "The api key lives in vault",
        ),
        ("user", "Remember: the port is 8443", "config", "The port is 8443"),
        ("user", "Don't forget that CI fails on Windows", "issue", "CI fails on Windows"),
        ("user", "Ok, we decided to use Postgres for billing.", "decision", None),
        ("assistant", "We have agreed on trunk-based development.", "decision", None),
        ("user", "I've decided to drop Python 3.9.", "decision", None),
        ("user", "Let's use pnpm instead of npm.", "decision", None),
        ("assistant", "Use `httpx` rather than `requests` here.", "decision", None),
        ("user", "Never run migrations on a Friday afternoon!", "decision", None),
        ("user", "- Always run `make lint` before you push", "decision", None),
        ("assistant", "The port is 8443.", "config", "The port is 8443"),
        ("user", "The webhook timeout is now 30 seconds", "config", None),
        (
            "assistant",
            "**The default branch is `trunk`.**",
            "config",
            "The default branch is `trunk`",
        ),
        ("user", "the staging URL is https://staging.example.com/api", "config", None),
        ("assistant", "The API server listens on port 3000.", "config", None),
        (
            "assistant",
            "TODO: add retries to the uploader",
            "task_state",
            "TODO: add retries to the uploader",
        ),
        ("assistant", "The root cause is a missing await in `fetch_user`.", "issue", None),
        ("assistant", "The billing service is written in Go.", "architecture", None),
        ("user", "Our worker depends on Redis 7", "architecture", None),
        ("user", "请记住：部署前要跑全量测试。", "decision", "部署前要跑全量测试"),
        ("user", "记住，服务端口是 8443", "config", "服务端口是 8443"),
        ("user", "我们决定用 PostgreSQL 做主库。", "decision", "我们决定用 PostgreSQL 做主库"),
        ("assistant", "测试环境的 Redis 地址改成 10.20.3.7:6380 了", "config", None),
        ("assistant", "消息队列用 RocketMQ，以后都用它。", "decision", None),
        ("user", "用 pnpm 而不是 npm", "decision", None),
        ("user", "不要在周五部署", "decision", None),
        ("assistant", "待办：给上传模块加重试", "task_state", None),
        ("assistant", "根本原因是连接池没有释放。", "issue", None),
    ],
)
def test_what_is_stated_outright_is_found(
    role: str, text: str, type: str, content: str | None
) -> None:
    (draft,) = drafts(text, role)
    assert draft.type == type
    assert draft.sources == ("seg-1",)
    assert draft.action is None
    if content is not None:
        assert draft.content == content


@pytest.mark.parametrize(
    "text",
    [
        "Is the port 8443?",
        "What if we decided to use Postgres instead of MySQL",
        "Maybe the port is 8443",
        "If the port is 8443, stop the server",
        "The port is probably 8443",
        "For example, the port is 8443",
        "> The port is 8443",
        "```\nThe port is 8443\nTODO: remove this line\n```",
        "~~~yaml\nThe port is 8443",
        "<file name='a.txt'>\nThe port is 8443\n</file>",
        "    The port is 8443",
        "| The port is 8443 | yes |",
        "# The port is 8443 in production",
        "Remember when we used to deploy by hand?",
        "It is decided that it is fine",
        "Remember that it is broken",
        "The port is in use",
        "The path is not what I expected",
        "Always happy to help out with that",
        "Never mind, I found the file",
        "Thanks, that works great now!",
        "端口是 8443 吗？",
        "如果端口是 8443 就停掉服务",
        "可能端口是 8443",
        "比如端口是 8443",
        "记住这个就行",
        "ok",
        "",
    ],
)
def test_what_is_not_stated_is_passed_over(text: str) -> None:
    assert drafts(text) == ()
    assert drafts(text, "assistant") == ()


@pytest.mark.parametrize(
    "text",
    ["Never run migrations on a Friday", "记住，服务端口是 8443 和 8444", "I decided to drop Go"],
)
def test_an_assistant_gives_no_orders(text: str) -> None:
    assert drafts(text) != ()
    assert all(draft.type == "config" for draft in drafts(text, "assistant"))


def test_other_roles_are_not_read() -> None:
    assert drafts("The port is 8443", "tool") == ()


def test_what_is_said_twice_is_one_fact_of_the_later_message() -> None:
    messages = (
        Message("user", "The port is 8443. We decided to use Postgres.", "seg-1"),
        Message("assistant", "Noted. THE PORT IS 8443.", "seg-2"),
    )
    found = asyncio.run(RulesExtractor().extract(Request(messages))).drafts
    assert [(draft.content.casefold(), draft.sources) for draft in found] == [
        ("we decided to use postgres", ("seg-1",)),
        ("the port is 8443", ("seg-2",)),
    ]


def test_the_latest_are_kept_where_there_are_too_many() -> None:
    text = "\n".join(f"The api{number} port is {number}" for number in range(1000, 1030))
    assert [draft.content[-4:] for draft in drafts(text, most=2)] == ["1028", "1029"]
    assert drafts(text, most=0) == ()


def test_it_is_an_extractor() -> None:
    assert isinstance(RulesExtractor(), Extractor)


@given(st.text(max_size=400), st.sampled_from(["user", "assistant"]))
def test_any_text_can_be_read(text: str, role: str) -> None:
    for draft in drafts(text, role):
        assert draft.content.strip()


def test_long_texts_take_no_longer_than_their_length() -> None:
    """No pattern runs wild: a megabyte of the worst there is, within the time-out of the test."""
    for piece in (
        "the port ",
        "so so so ",
        "use x ",
        "a-b/c.d `e` ",
        "端口",
        "记住",
        "**",
        "<a>",
        "1. ",
    ):
        text = (piece * 60 + "\n") * (200_000 // (len(piece) * 60))
        drafts(text)
