"""`RulesExtractor`: explicitly stated facts are found, and nothing else."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memctx.facts.extractors import Extractor, Message, Request
from memctx.facts.extractors.rules import RulesExtractor

if TYPE_CHECKING:
    from memctx.facts import CandidateFact


def candidates(text: str, role: str = "user", most: int = 15) -> tuple[CandidateFact, ...]:
    request = Request((Message(role, text, "seg-1"),), most=most)
    return asyncio.run(RulesExtractor().extract(request)).candidates


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
def test_explicitly_stated_facts_are_found(
    role: str, text: str, type: str, content: str | None
) -> None:
    (candidate,) = candidates(text, role)
    assert candidate.type == type
    assert candidate.sources == ("seg-1",)
    assert candidate.action is None
    if content is not None:
        assert candidate.content == content


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
def test_questions_guesses_code_and_quotations_are_skipped(text: str) -> None:
    assert candidates(text) == ()
    assert candidates(text, "assistant") == ()


@pytest.mark.parametrize(
    "text",
    ["Never run migrations on a Friday", "记住，服务端口是 8443 和 8444", "I decided to drop Go"],
)
def test_orders_of_an_assistant_are_not_facts(text: str) -> None:
    assert candidates(text) != ()
    assert all(candidate.type == "config" for candidate in candidates(text, "assistant"))


def test_rules_read_only_users_and_assistants() -> None:
    assert candidates("The port is 8443", "tool") == ()


def test_a_repeated_fact_belongs_to_the_later_message() -> None:
    messages = (
        Message("user", "The port is 8443. We decided to use Postgres.", "seg-1"),
        Message("assistant", "Noted. THE PORT IS 8443.", "seg-2"),
    )
    found = asyncio.run(RulesExtractor().extract(Request(messages))).candidates
    assert [(candidate.content.casefold(), candidate.sources) for candidate in found] == [
        ("we decided to use postgres", ("seg-1",)),
        ("the port is 8443", ("seg-2",)),
    ]


def test_the_latest_facts_are_kept_above_the_limit() -> None:
    text = "\n".join(f"The api{number} port is {number}" for number in range(1000, 1030))
    assert [candidate.content[-4:] for candidate in candidates(text, most=2)] == ["1028", "1029"]
    assert candidates(text, most=0) == ()


def test_a_rules_extractor_is_an_extractor() -> None:
    assert isinstance(RulesExtractor(), Extractor)


@given(st.text(max_size=400), st.sampled_from(["user", "assistant"]))
def test_rules_accept_any_text(text: str, role: str) -> None:
    for candidate in candidates(text, role):
        assert candidate.content.strip()


def test_rules_take_linear_time_on_long_texts() -> None:
    """No pattern backtracks: a megabyte of the worst input takes less than the test's time-out."""
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
        candidates(text)
