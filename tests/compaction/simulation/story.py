"""Story of the simulation: the messages of each turn, drawn from a random seed that all processes share."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

Teller: TypeAlias = Literal["person", "model", "tool"]

SERVICES = (
    "payment webhook",
    "invoice exporter",
    "login gateway",
    "search indexer",
    "mail relay",
    "report builder",
    "audit collector",
    "session cache",
    "image resizer",
    "price feed",
    "order router",
    "backup runner",
    "feature flags",
    "metrics proxy",
    "支付回调",
    "订单队列",
)
# Statements about a service, and the later questions about them, seldom in the same words.
STATEMENTS = {
    "port": (
        "From now on the {service} listens on port {value}.",
        "Which port does the {service} listen on?",
    ),
    "owner": (
        "The {service} belongs to {value}; no one else approves a release of it.",
        "Who approves releases of the {service}?",
    ),
    "limit": (
        "We settled on {value} attempts before the {service} gives up.",
        "After how many attempts does the {service} give up?",
    ),
    "codename": (
        "The rewrite of the {service} goes under the codename {value}.",
        "What is the codename of the {service} rewrite?",
    ),
}
STATEMENTS_IN_CHINESE = {
    "port": ("从现在起{service}监听端口{value}。", "{service}监听哪个端口？"),
    "owner": ("{service}由{value}负责，只有她能批准发布。", "{service}的发布由谁批准？"),
    "limit": ("我们决定{service}重试{value}次后放弃。", "{service}重试多少次后放弃？"),
    "codename": ("{service}的重写代号是{value}。", "{service}重写的代号是什么？"),
}
OWNERS = (
    "Abernathy Birgitta Cordelia Desdemona Euphemia Fiammetta Ghislaine Hyacintha Ingeborg Jocasta Kunigunde Lucasta "
    "Mirabella Nepomuk Ottoline Philippa"
).split()
CODENAMES = (
    "Amberjack Bluefinch Cinderhawk Driftotter Emberlynx Frostheron Gingerkite Hazelmink Ivoryloon Jadewren "
    "Kelpmarten Lilacstork Mossbadger Nightplover Opalgannet Pinesiskin"
).split()
NOUNS = (
    "handler queue table index request worker lock schema column migration cache token header payload parser buffer "
    "thread pool socket timer batch cursor bucket shard replica branch commit pipeline artifact manifest container "
    "volume secret policy role region quota alert dashboard trace span metric sample counter histogram fixture mock "
    "stub client session cookie proxy route filter rule trigger job scheduler snapshot port release"
).split()
VERBS = (
    "reads writes blocks drops copies rejects retries flushes loads parses wraps skips returns closes opens rotates "
    "delays doubles splits merges validates signs encodes rounds caps polls drains evicts locks"
).split()
ADJECTIVES = (
    "old new stale empty nested shared broken slow idle frozen partial duplicate hidden remote local early late "
    "optional nightly manual noisy cold warm unused legacy"
).split()
PLACES = (
    "during start-up; after a restart; under load; in the nightly build; on the staging cluster; behind the proxy; "
    "when the disk is full; before the tests run; while a deploy is on; in the second region; once per minute; "
    "for large tenants; on cold caches; in the retry path; when two writers meet; at the end of a batch"
).split("; ")
CHINESE = (
    "日志显示请求超时，先检查连接池。",
    "索引还没有重建完成，查询会变慢。",
    "任务失败后会自动重新排队。",
    "发布之前需要确认配置和端口。",
    "缓存过期以后会读取旧的数据。",
    "测试环境的证书下周要更换。",
    "两个进程同时写入时会出现死锁。",
    "监控面板缺少延迟的直方图。",
)
TOOLS = ("read", "edit", "exec")


@dataclass(frozen=True)
class Plan:
    """Parameters of a simulation."""

    turns: int
    window: int
    """Tokens that the model takes."""
    facts: int
    """Facts stated on the way, and asked for in the end."""
    result_lines: tuple[int, int]
    """Length of tool results."""
    outage_at: int
    """Turn from which the next summarizer is down, for one compaction."""
    kills: tuple[tuple[str, int], ...]
    """Kills of the agent: at the first ``summary`` or ``answer`` that it requests in or after a turn."""
    dips: tuple[tuple[int, int, float], ...]
    """From which turn to which the model takes only a share of its window."""
    huge: tuple[int, ...] = ()
    """Turns with a result of half the window."""
    attempts: int = 3
    """Number of attempts for a summary."""
    stray_kills: int = 0
    """Number of further kills, at random moments."""
    seed: int = 6

    @classmethod
    def of(cls, found: dict[str, Any]) -> Plan:
        """Return a plan from JSON."""
        lists = ("kills", "dips")
        rows = {name: tuple(tuple(row) for row in found[name]) for name in lists}
        flat = {name: tuple(found[name]) for name in ("huge", "result_lines")}
        return cls(**{**found, **rows, **flat})

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Fact:
    """A fact stated once."""

    statement: str
    question: str
    value: str
    turn: int
    by: Teller


@dataclass(frozen=True)
class Call:
    """A tool call and its result."""

    id: str
    name: str
    input: dict[str, str]
    result: str
    is_error: bool


@dataclass(frozen=True)
class Step:
    """One answer of the model."""

    text: str
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Round:
    """An ask of the person, and everything until the model has answered."""

    number: int
    ask: str
    steps: tuple[Step, ...]
    fact: Fact | None = None
    """Questions in the turns at the end."""


@dataclass(frozen=True)
class Story:
    """All turns of a plan, and the questions after them."""

    plan: Plan
    _stated: dict[int, Fact] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_stated", {fact.turn: fact for fact in self.facts})

    @property
    def rounds(self) -> int:
        return self.plan.turns + self.plan.facts

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        chance = random.Random(f"facts {self.plan.seed}")
        kinds = [(kind, service) for kind in STATEMENTS for service in range(len(SERVICES))]
        chosen = chance.sample(kinds, self.plan.facts)
        numbers = chance.sample(range(2_001, 9_999), 2 * len(SERVICES))
        values = {
            "port": [str(number) for number in numbers[: len(SERVICES)]],
            "owner": OWNERS,
            "limit": [str(number) for number in numbers[len(SERVICES) :]],
            "codename": CODENAMES,
        }
        last = self.plan.turns * 9 // 10
        tellers: tuple[Teller, ...] = ("person", "model", "tool")
        facts = []
        for number, (kind, service) in enumerate(chosen):
            name, value = SERVICES[service], values[kind][service]
            stated, asked = (STATEMENTS if name.isascii() else STATEMENTS_IN_CHINESE)[kind]
            facts.append(
                Fact(
                    stated.format(service=name, value=value),
                    asked.format(service=name),
                    value,
                    turn=1 + number * last // self.plan.facts,
                    by=tellers[number % len(tellers)],
                )
            )
        return tuple(facts)

    def round(self, number: int) -> Round:
        """Return a turn, or a question behind the last turn."""
        if number >= self.plan.turns:
            return self._question(number)
        chance = random.Random(f"{self.plan.seed} {number}")
        stated = self._stated.get(number)
        ask = f"{self._ask(chance)}{_of(stated, 'person')}"
        calls = [
            [self._call(chance, number, step, place) for place in range(chance.choice((1, 1, 2)))]
            for step in range(chance.choice((0, 1, 1, 2, 3)) or int(number in self.plan.huge))
        ]
        if stated is not None and stated.by == "tool":
            calls = calls or [[self._call(chance, number, 0, 0)]]
            first = calls[0][0]
            result = f"{first.result}\n{stated.statement}\n{_talk(chance, 2)}"
            calls[0][0] = Call(first.id, "read", first.input, result, is_error=False)
        steps = [Step(_talk(chance, 1), tuple(row)) for row in calls]
        said = f"{_talk(chance, chance.randint(2, 12))}{_of(stated, 'model')}"
        return Round(number, ask, (*steps, Step(said)))

    def _question(self, number: int) -> Round:
        """Return a question, whose answer is in an earlier turn."""
        fact = self.facts[number - self.plan.turns]
        return Round(number, fact.question, (Step(""),), fact)

    def _ask(self, chance: random.Random) -> str:
        service = chance.choice(SERVICES)
        if chance.random() < 0.2:
            return f"请检查{service}：{''.join(chance.choices(CHINESE, k=3))} {_talk(chance, 1)}"
        return f"Please look at the {service}. {_talk(chance, chance.randint(1, 6))}"

    def _call(self, chance: random.Random, number: int, step: int, place: int) -> Call:
        call_id = f"toolu_{number:04d}_{step}_{place}"
        name = chance.choice(TOOLS)
        is_huge = number in self.plan.huge and (step, place) == (0, 0)
        count = self.plan.window // 30 if is_huge else chance.randint(*self.plan.result_lines)
        module = f"src/{chance.choice(NOUNS)}/{chance.choice(NOUNS)}_{number}_{step}_{place}.py"
        given = {"path": module} if name != "exec" else {"command": f"pytest {module}"}
        is_error = chance.random() < 0.1
        head = f"Error: {module} failed with exit code 1\n" if is_error else ""
        return Call(call_id, name, given, f"{head}{_output(chance, count)}", is_error)


def _of(fact: Fact | None, teller: Teller) -> str:
    return f" {fact.statement}" if fact is not None and fact.by == teller else ""


def _talk(chance: random.Random, count: int) -> str:
    return " ".join(_sentence(chance) for _ in range(count))


def _sentence(chance: random.Random) -> str:
    first, second = chance.sample(NOUNS, 2)
    of = f" of the {chance.choice(SERVICES)}" if chance.random() < 0.2 else ""
    adjective, verb, place = (chance.choice(words) for words in (ADJECTIVES, VERBS, PLACES))
    return f"The {adjective} {first}{of} {verb} the {second} {place}."


def _output(chance: random.Random, count: int) -> str:
    """Return a tool result: code, or lines of a log."""
    if chance.random() < 0.5:
        return "\n".join(
            f"    {chance.choice(NOUNS)} = {chance.choice(VERBS)}_{chance.choice(NOUNS)}"
            f"({chance.choice(NOUNS)}, {chance.randint(0, 99)})"
            for _ in range(count)
        )
    return "\n".join(
        f"{chance.randint(10, 23)}:{chance.randint(10, 59)} worker-{chance.randint(0, 9)} {_sentence(chance)}"
        for _ in range(count)
    )
