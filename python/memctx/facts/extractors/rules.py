"""`RulesExtractor`: extraction of explicitly stated facts by patterns, without a model."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memctx.facts import CandidateFact
from memctx.facts.extractors.split import shorten
from memctx.protocols import ExtractionResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memctx.facts import FactType
    from memctx.protocols import Message, Request


@dataclass(frozen=True, slots=True)
class Rule:
    """Pattern of sentences that state a fact."""

    pattern: re.Pattern[str]
    """Matches a sentence from its beginning; the fact is its group ``fact``, or else the whole sentence."""
    type: FactType | None
    """Type of the fact; None to guess it from the words."""
    speakers: tuple[str, ...] = ("user", "assistant")


def _rule(pattern: str, type: FactType | None, *speakers: str) -> Rule:
    return Rule(re.compile(pattern, re.IGNORECASE), type, speakers or ("user", "assistant"))


_OPENING = (
    r"(?:(?:ok|okay|alright|so|then|also|and|but|yes|right|actually|update|correction|fyi)[,:]? )*"
)
_ATTRIBUTE = (
    r"(?:ports?|time-?outs?|limit|urls?|endpoint|version|branch|region|path|director(?:y|ies)|folder"
    r"|database|host(?:name)?|ttl|interval|threshold|retries|replicas|env(?:ironment)? variable"
    r"|base image|license|package manager|bucket|queue|schema|domain|deadline|time ?zone"
    r"|indentation|line length|concurrency|batch size)"
)
# A number, a path, a name, something in backticks, at most three words on.
_VALUE = (
    r"(?=(?:[\w'-]+ ){0,3}"
    r"(?:[\"'`$~./]*\d|`|[.~]?/\w|https?:|(?-i:[A-Z])\w|\w+[_.:]\w))"
)
_PART = (
    r"(?:the|our) (?:[\w`./-]+ ){0,3}(?:services?|servers?|apis?|apps?|modules?|packages?"
    r"|librar(?:y|ies)|front-?end|back-?end|databases?|workers?|clients?|sites?|pipelines?|sessions"
    r"|images|logs|uploads|tests|docs|cli|gateway|queue|cache)"
)
_ATTRIBUTE_ZH = (
    "(?:端口号?|超时(?:时间)?|地址|路径|版本号?|分支|数据库|环境变量|上限|限制|间隔|目录|域名|区域|时区"
    "|有效期|阈值|缩进|许可证|缓存时间|并发数?|副本数?)"
)
_VALUE_ZH = r"(?=.*(?:\d|[A-Za-z]{2,}|`[^`]+`|[一二三四五六七八九十]))"

RULES = (
    _rule(
        _OPENING + r"(?:please )?(?:remember|keep in mind|don't forget|do not forget)(?: that|:|,) "
        r"(?P<fact>.{8,})",
        None,
        "user",
    ),
    _rule(
        _OPENING + r"(?:we|the team)(?:'ve| have)? (?:now |just |finally )?(?:decided|agreed|chosen"
        r"|settled on|opted|switched (?:from|to)|migrated (?:from|to)|standardi[sz]ed on"
        r"|committed to)\b.{6,}",
        "decision",
    ),
    _rule(
        _OPENING + r"i(?:'ve| have)? (?:now |just |finally )?(?:decided|chosen|settled on|opted)\b"
        r".{6,}",
        "decision",
        "user",
    ),
    _rule(r"(?:decision|decided|agreed): ?(?P<fact>.{8,})", "decision", "user"),
    _rule(
        _OPENING + r"(?:let'?s |we(?:'ll| will| should| now)? |please )?(?:use|go with"
        r"|stick (?:to|with)) \S.{0,60}(?: instead of| rather than|, not) .{2,}",
        "decision",
    ),
    _rule(
        _OPENING + r"(?:always|never) (?!(?:mind|been|had|say|tried|saw|love|up|here|there|good|fun"
        r"|nice|great|happy|a|the|in|on|so|too)\b)[a-z]+(?<!ing)(?<!ed)\b .{6,}",
        "decision",
        "user",
    ),
    _rule(
        _OPENING
        + r"(?:(?:the|our|my) )?(?:[\w`./-]+ ){0,4}"
        + _ATTRIBUTE
        + r"(?: (?:for|of|in|on) (?:[\w`./-]++ ?){1,4}?)? ?(?:is|are|=|will be|must be|has to be"
        r"|was changed to|changed to|defaults to)(?: now)?(?: set to| called| named)? "
        + _VALUE
        + r".+",
        "config",
    ),
    _rule(
        _OPENING + r"(?:the|our) (?:[\w`./-]+ ){1,5}(?:listens?|runs?|is running|is served"
        r"|is exposed) on (?:port )?`?:?\d{2,5}\b.*",
        "config",
    ),
    _rule(r"(?:todo|still to do|remaining|left to do): ?(?=.{8,}).*", "task_state"),
    _rule(r"next steps?: ?(?=.{8,}).*", "task_state", "user"),
    _rule(r"(?:the )?root cause(?: of .{2,80})?(?: is|:| was) ?(?=.{8,}).*", "issue"),
    _rule(r"(?:known (?:issue|bug|limitation)|bug): ?(?=.{8,}).*", "issue"),
    _rule(
        _OPENING + _PART + r" (?:is|are) (?:written in|built (?:with|on)|deployed (?:to|on)"
        r"|stored in|hosted on) " + _VALUE + r".{2,}",
        "architecture",
    ),
    _rule(_OPENING + _PART + r" (?:depends on|talks to|is backed by) .{3,}", "architecture"),
    _rule(
        r"(?:请|请你|帮我)?(?:记住|记一下|记得|牢记)(?:了|一点)?[:：,，]? ?(?P<fact>.{4,})",
        None,
        "user",
    ),
    _rule(
        r"(?:最终|最后|所以|那|好的?[,，])?(?:我们|团队|大家)(?:已经|已|最终|一致)?"
        r"(?:决定|商定|约定|确定|统一).{3,}",
        "decision",
    ),
    _rule(r"(?:决定|结论|约定)[:：] ?(?P<fact>.{4,})", "decision"),
    _rule(r".{0,20}(?:改用|换成|改成用|统一用|统一使用|以后都?用) ?\S.*", "decision"),
    _rule(
        r".{0,12}(?:用|使用|选) ?\S.{0,40}(?:而不是|而非|，不用|,不用|，不要用) ?\S.*",
        "decision",
    ),
    _rule(r"(?:千万|一定)?(?:不要|禁止|不许|必须|一律)(?!担心|紧|客气).{4,}", "decision", "user"),
    _rule(
        r".{0,24}"
        + _ATTRIBUTE_ZH
        + r" ?(?:现在|已经?)?(?:是|为|改为|改成|设为|设置为|定为|=|：) ?"
        + _VALUE_ZH
        + r".+",
        "config",
    ),
    _rule(r"(?:待办|下一步|接下来|剩余)[:：] ?(?=.{4,}).*", "task_state"),
    _rule(r".{0,16}(?:根因|根本原因|已知问题)(?:是|在于|为|[:：]) ?(?=.{4,}).*", "issue"),
)

UNCERTAIN = re.compile(
    r"[?？:：]\s*$|\[[a-z ]+\]|[吗呢么吧][。.!！]?$"
    r"|^(?:if|when|suppose|assuming|imagine|what|which|how|why|should|could|can|would|do|does|is|are"
    r"|did)\b|\b(?:if|might|maybe|perhaps|probably|could be|would be|e\.g\.|i guess|not sure|i think"
    r"|something like|for example|such as|let me|let's (?:see|check|look|say)|whether|seems?"
    r"|looks? like|wondering|unless|depending|consider|want to|trying to|was going to|an example"
    r"|ensure|make sure|your)\b"
    r"|如果|假如|要是|也许|可能|大概|或许|比如|例如|是否|要不要|是不是|好像|似乎|不确定",
    re.IGNORECASE,
)
"""Questions, guesses, examples, headings and conditional sentences."""

UNRESOLVED = re.compile(
    r"(?:it|its|this|that|these|those|they|them|he|she|there|here|you"
    r"|the (?:same|former|latter|above|following))\b|它|这|那|他|她|其|上述|以上|以下",
    re.IGNORECASE,
)
"""Openings that refer to another sentence."""

_TYPES: tuple[tuple[FactType, re.Pattern[str]], ...] = (
    (
        "task_state",
        re.compile(r"\b(?:todo|deadline|next step|in progress)\b|待办|截止|进行中", re.IGNORECASE),
    ),
    (
        "issue",
        re.compile(r"\b(?:bug|crash\w*|fails?|broken|error)\b|报错|崩溃|失败|缺陷", re.IGNORECASE),
    ),
    (
        "config",
        re.compile(rf"\b{_ATTRIBUTE}\b|{_ATTRIBUTE_ZH}|(?-i:[A-Z]+_[A-Z_]+)", re.IGNORECASE),
    ),
)

FENCE = re.compile(r"^[ \t]*(```|~~~).*?(^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
TAGGED = re.compile(r"^[ \t]*<([a-z][\w-]*)(?: [^<>]*)?>.*?(</\1>|\Z)", re.MULTILINE | re.DOTALL)
# Quotations, headings, tables, shell prompts, diffs, numbered listings, indented code.
NOT_PROSE = re.compile(
    r"^(?:\s*[>|#$%]|\s*(?:\+|-)\s*[\w/]*[{}();=<]|@@|\s*\d+[:|]\s|\t| {4,}(?![-*\d]))"
)
BULLET = re.compile(r"^\s*(?:[-*+•]|\d+[.)、])\s+|^\s*\[[ xX]\]\s+")
EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
# A full stop ends a sentence where a space and no small letter follow: not in "3.11", not in "e.g. this".
END = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])|(?<=[。！？；])\s*")
MIN_WIDTH, MAX_LENGTH = 8, 300


class RulesExtractor:
    """Finds explicitly stated facts: "remember that …", "we decided …", "the port is …", 记住…, 我们决定….

    It costs nothing and knows English and Chinese. It prefers precision to recall: code, quotations, questions, guesses
    and sentences that refer to others are skipped.

    >>> import asyncio
    >>> from memctx.facts.extractors import Message, Request
    >>> said = Message("user", "Thanks! We decided to use Postgres for billing. Is that ok?", "s1")
    >>> result = asyncio.run(RulesExtractor().extract(Request((said,))))
    >>> [(fact.type, fact.content) for fact in result.candidates]
    [('decision', 'We decided to use Postgres for billing')]
    """

    async def extract(self, request: Request) -> ExtractionResult:
        """Return the facts that the messages state, the latest if there are more than asked for."""
        found: dict[str, CandidateFact] = {}
        for message in request.messages:
            for kind, content in find_facts(message):
                # A repeated fact belongs to the message that states it last.
                found.pop(content.casefold(), None)
                found[content.casefold()] = CandidateFact(kind, content, sources=(message.segment,))
        return ExtractionResult(tuple(found.values())[-request.most :] if request.most > 0 else ())


def find_facts(message: Message) -> Iterator[tuple[FactType, str]]:
    """Yield the facts that a message states, each with its type."""
    for sentence in iter_sentences(message.text):
        for rule in RULES:
            match = rule.pattern.match(sentence) if message.role in rule.speakers else None
            if match is None:
                continue
            fact = (match.groupdict().get("fact") or sentence).strip(" \t.。;；,，")
            if not UNCERTAIN.search(sentence) and not UNRESOLVED.match(fact):
                yield rule.type or _guess_type(fact), fact[:1].upper() + fact[1:]
            break


def _guess_type(fact: str) -> FactType:
    for kind, pattern in _TYPES:
        if pattern.search(fact):
            return kind
    return "decision"


def iter_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a message, without code, quotations, tables, headings and marks of emphasis.

    Of a very long message only the beginning and the end are read.
    """
    text = TAGGED.sub("\n", FENCE.sub("\n", shorten(text)))
    for line in text.splitlines():
        if NOT_PROSE.match(line):
            continue
        plain = " ".join(EMPHASIS.sub("", BULLET.sub("", line)).split())
        for sentence in END.split(plain):
            stripped = sentence.strip()
            if len(stripped) <= MAX_LENGTH and _width(stripped) >= MIN_WIDTH:
                yield stripped


def _width(text: str) -> int:
    """Return the length of a text in Latin letters; a Han character counts as two."""
    return sum(2 if ord(c) >= 0x2E80 else 1 for c in text)  # noqa: PLR2004
