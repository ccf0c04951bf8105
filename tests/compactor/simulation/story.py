"""What happens in the simulation: who says what in which turn, drawn from a seed, so that every process knows it."""

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
# What is told once about a service, and how it is asked for in the end: seldom in the same words.
TOLD = {
    "port": (
        "From now on the {service} listens on port {value}.",
        "Which port does the {service} listen on?",
    ),
    "owner": (
        "The {service} belongs to {value}; nobody else approves a release of it.",
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
TOLD_IN_CHINESE = {
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
WORDS = (
    "the port of the test server is open while the owner reads a log and the retry queue grows slowly because every "
    "release waits for a review that the team had promised for the morning but the build was red again and nobody "
    "knew which change broke the handler until somebody looked at the trace of the request that timed out near the "
    "limit of the pool and found a lock held by a job that copies rows from an old table into a new one before the "
    "index is ready so attempts to read it fail at random and approve themselves after a restart of the worker"
).split()
CHINESE = "日志显示请求超时，先检查连接池，再看索引是否重建完成；任务失败后会重试，发布前需要确认端口和配置。"
TOOLS = ("read", "edit", "exec")


@dataclass(frozen=True)
class Plan:
    """What is played."""

    turns: int
    window: int
    """Tokens that the model takes."""
    facts: int
    """Facts told in the course of it, and asked for in the end."""
    result_words: tuple[int, int]
    """How long results of tools are."""
    outage_at: int
    """The turn from which the next summariser is down, for one compaction."""
    kills: tuple[tuple[str, int], ...]
    """When the agent is killed: at the first ``summary`` or ``answer`` that it asks for in or after a turn."""
    dips: tuple[tuple[int, int, float], ...]
    """From which turn to which the model takes only a share of its window."""
    huge: tuple[int, ...] = ()
    """The turns with a result of half the window."""
    attempts: int = 3
    """How often a summary is tried for."""
    seed: int = 6

    @classmethod
    def of(cls, found: dict[str, Any]) -> Plan:
        """A plan that came as JSON."""
        lists = ("kills", "dips")
        rows = {name: tuple(tuple(row) for row in found[name]) for name in lists}
        flat = {name: tuple(found[name]) for name in ("huge", "result_words")}
        return cls(**{**found, **rows, **flat})

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Fact:
    """Something told once."""

    statement: str
    question: str
    value: str
    turn: int
    by: Teller


@dataclass(frozen=True)
class Call:
    """A call of a tool and what comes of it."""

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
    """What a person asks, and all that follows until the model has answered."""

    number: int
    ask: str
    steps: tuple[Step, ...]
    fact: Fact | None = None
    """What is asked for, in the turns at the end."""


@dataclass(frozen=True)
class Story:
    """All turns of a plan, and the questions after them."""

    plan: Plan
    _told: dict[int, Fact] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_told", {fact.turn: fact for fact in self.facts})

    @property
    def rounds(self) -> int:
        return self.plan.turns + self.plan.facts

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        chance = random.Random(f"facts {self.plan.seed}")
        kinds = [(kind, service) for kind in TOLD for service in range(len(SERVICES))]
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
            told, asked = (TOLD if name.isascii() else TOLD_IN_CHINESE)[kind]
            facts.append(
                Fact(
                    told.format(service=name, value=value),
                    asked.format(service=name),
                    value,
                    turn=1 + number * last // self.plan.facts,
                    by=tellers[number % len(tellers)],
                )
            )
        return tuple(facts)

    def round(self, number: int) -> Round:
        """A turn, or a question behind the last of them."""
        if number >= self.plan.turns:
            return self._question(number)
        chance = random.Random(f"{self.plan.seed} {number}")
        told = self._told.get(number)
        ask = f"{self._ask(chance)}{_of(told, 'person')}"
        calls = [
            [self._call(chance, number, step, place) for place in range(chance.choice((1, 1, 2)))]
            for step in range(chance.choice((0, 1, 1, 2, 3)) or int(number in self.plan.huge))
        ]
        if told is not None and told.by == "tool":
            calls = calls or [[self._call(chance, number, 0, 0)]]
            first = calls[0][0]
            result = f"{first.result}\n{told.statement}\n{_words(chance, 20)}"
            calls[0][0] = Call(first.id, "read", first.input, result, is_error=False)
        steps = [Step(_words(chance, 15), tuple(row)) for row in calls]
        said = f"{_words(chance, chance.randint(20, 120))}.{_of(told, 'model')}"
        return Round(number, ask, (*steps, Step(said)))

    def _question(self, number: int) -> Round:
        """A question; the answer is for whoever has read it."""
        fact = self.facts[number - self.plan.turns]
        return Round(number, fact.question, (Step(""),), fact)

    def _ask(self, chance: random.Random) -> str:
        service = chance.choice(SERVICES)
        if chance.random() < 0.2:
            start = chance.randrange(len(CHINESE) // 2)
            return f"请检查{service}：{CHINESE[start:]}"
        return f"Please look at the {service}: {_words(chance, chance.randint(8, 60))}."

    def _call(self, chance: random.Random, number: int, step: int, place: int) -> Call:
        call_id = f"toolu_{number:04d}_{step}_{place}"
        name = chance.choice(TOOLS)
        is_huge = number in self.plan.huge and (step, place) == (0, 0)
        count = self.plan.window // 3 if is_huge else chance.randint(*self.plan.result_words)
        module = f"src/{chance.choice(WORDS)}/{chance.choice(WORDS)}_{number}_{step}_{place}.py"
        given = {"path": module} if name != "exec" else {"command": f"pytest {module}"}
        is_error = chance.random() < 0.1
        head = f"Error: {module} failed with exit code 1\n" if is_error else ""
        return Call(call_id, name, given, f"{head}{_words(chance, count)}", is_error)


def _of(fact: Fact | None, teller: Teller) -> str:
    return f" {fact.statement}" if fact is not None and fact.by == teller else ""


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(WORDS, k=count))
