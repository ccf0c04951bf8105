"""Facts hidden in sessions of an agent, and questions for them: literally, in other words and across languages."""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from . import pi

if TYPE_CHECKING:
    from collections.abc import Iterator

Line: TypeAlias = dict[str, Any]

ROLES = ("user", "assistant", "user", "assistant", "user", "assistant", "toolResult")
TEXT_LIMIT = 4_000
HEADS = ("Utrecht", "Bergen", "Padua", "Malmö")
PLACES = {"zh": ("苏州", "成都", "青岛"), "ja": ("仙台", "松本"), "ko": ("대전", "전주")}
# The fact, the same words as a question, other words, another language; {place} and {value} are drawn.
TOLD: dict[str, tuple[tuple[str, str, str, str | None], ...]] = {
    "en": (
        (
            "The badge printer of the {place} office listens on port {value}.",
            "Which port does the badge printer of the {place} office listen on?",
            "how do I reach the device that makes visitor cards in {place}",
            "{place} 办公室的证件打印机用哪个端口？",
        ),
        (
            "Deliveries for the {place} warehouse need the gate code {value} until further notice.",
            "Which gate code do deliveries for the {place} warehouse need?",
            "what must a driver type in to get in at {place}",
            None,
        ),
        (
            "We agreed that the {place} team rehearses the fire drill with {value} people.",
            "With how many people does the {place} team rehearse the fire drill?",
            "size of the group for the evacuation exercise in {place}",
            None,
        ),
        (
            "The greenhouse sensors in {place} report every {value} seconds over LoRa.",
            "How often do the greenhouse sensors in {place} report?",
            "interval of the plant telemetry at {place}",
            "{place} の温室センサーは何秒ごとに報告しますか？",
        ),
    ),
    "zh": (
        (
            "{place}仓库的叉车充电桩编号是{value}，晚上九点以后才能用。",
            "{place}仓库的叉车充电桩编号是多少？",
            "{place}那边搬货的车在哪里补电",
            "What is the number of the forklift charger in {place}?",
        ),
        (
            "{place}机房的门禁密码改成{value}了，旧的周五失效。",
            "{place}机房的门禁密码改成什么了？",
            "进{place}放服务器的房间要输入什么",
            None,
        ),
        (
            "结论：{place}的班车以后只停{value}号站台。",
            "{place}的班车停几号站台？",
            "去{place}通勤的大巴在哪里上",
            None,
        ),
        (
            "{place}分公司的打印纸每月限额{value}包，超出要审批。",
            "{place}分公司的打印纸每月限额多少包？",
            "{place}一个月最多能领多少纸",
            None,
        ),
    ),
    "ja": (
        (
            "{place}支店の会議室予約は内線{value}で受け付けます。",
            "{place}支店の会議室予約の内線は何番ですか？",
            "{place}で部屋を押さえるにはどこへ電話する",
            "Which extension takes room bookings in {place}?",
        ),
        (
            "{place}倉庫の冷凍庫の設定温度は記号{value}で管理します。",
            "{place}倉庫の冷凍庫の設定温度の記号は？",
            "{place}で凍らせる設備の管理コード",
            None,
        ),
        (
            "{place}の電波時計は型番{value}に交換しました。",
            "{place}の電波時計の型番は何ですか？",
            "{place}で時刻合わせに使う機械の種類",
            None,
        ),
    ),
    "ko": (
        (
            "{place} 지점의 택배 보관함 비밀번호는 {value}입니다.",
            "{place} 지점의 택배 보관함 비밀번호는 무엇입니까?",
            "{place}에서 맡겨 둔 물건을 찾으려면 무엇을 눌러야 하나",
            "What opens the parcel locker in {place}?",
        ),
        (
            "{place} 공장의 점검 주기는 {value}시간으로 정했습니다.",
            "{place} 공장의 점검 주기는 몇 시간입니까?",
            "{place}에서 기계를 얼마나 자주 살펴보나",
            None,
        ),
        (
            "{place} 사무실 와이파이 이름은 net{value}로 바뀌었습니다.",
            "{place} 사무실 와이파이 이름은 무엇으로 바뀌었습니까?",
            "{place}에서 무선 인터넷에 접속하려면",
            None,
        ),
    ),
}


def facts() -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield the language of each fact, the fact, and its questions by kind."""
    chance = random.Random("needles")
    values = iter(chance.sample(range(2_101, 9_899), 60))
    for language, templates in TOLD.items():
        for place in PLACES.get(language, HEADS):
            for template in templates:
                value = str(next(values))
                fact, *asked = (text and text.format(place=place, value=value) for text in template)
                ways = zip(("lex", "para", "xling"), asked, strict=True)
                yield language, str(fact), {way: text for way, text in ways if text}


def needle_set() -> tuple[list[Line], list[Line]]:
    """Return the messages of all sessions with the facts among them, and the questions."""
    messages: list[Line] = []
    questions: list[Line] = []
    for store in pi.PLANS:
        lines = list(_flat(pi.session(store)))
        chance = random.Random(f"needles in {store}")
        places = sorted(chance.sample(range(20, len(lines)), 40), reverse=True)
        hidden = list(islice(facts(), 40))
        chance.shuffle(hidden)
        for number, (place, (language, fact, ways)) in enumerate(zip(places, hidden, strict=True)):
            name = f"fact{number}"
            lines.insert(place, {"id": name, "role": ROLES[number % len(ROLES)], "content": fact})
            questions += [
                {
                    "store": store,
                    "qid": f"{name}-{way}",
                    "query": text,
                    "gold": [name],
                    "type": f"{language}-{way}",
                }
                for way, text in ways.items()
            ]
        messages += _dated(store, lines)
    return messages, questions


def _dated(store: str, lines: list[Line]) -> Iterator[Line]:
    start = datetime(2026, 1, 5, 9)  # noqa: DTZ001 - without a zone, as such sets have it
    for number, line in enumerate(lines):
        moment = (start + timedelta(seconds=40 * number)).isoformat()
        yield {"store": store, "session": "s", "timestamp": moment, **line}


def _flat(entries: list[pi.Entry]) -> Iterator[Line]:
    """Yield the messages of a session as plain texts, calls written out, each text cut at a limit."""
    for number, entry in enumerate(entries):
        if entry["type"] != "message" or entry["message"]["role"] == "bashExecution":
            continue
        message = entry["message"]
        texts = []
        for block in message["content"]:
            if block["type"] == "text":
                texts.append(block["text"])
            elif block["type"] == "toolCall":
                texts.append(f"[tool_call {block['name']}] {json.dumps(block['arguments'])}")
        if text := "\n".join(texts)[:TEXT_LIMIT]:
            yield {"id": f"m{number}", "role": message["role"], "content": text}
