"""`RulesExtractor`: extraction of explicitly stated facts by patterns, without a model."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memctx import _core
from memctx.facts import CandidateFact
from memctx.facts.extractors.split import shorten
from memctx.protocols import ExtractionResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memctx.facts import FactType
    from memctx.protocols import Known, Message, Request


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
    r"(?:(?:ok|okay|alright|so|then|also|and|but|yes|right|actually|update|correction|fyi)[,:]? )*+"
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

# What a person's statement is about: a phrase with an article, a name, a plural.
_SUBJECT = (
    r"(?!(?:i|we|you|he|she|they|it|this|that|these|those|there|here|please|let|thanks|ok|their|his|her|its|one|two|three|some|most|many|not|what|who)\b|\d)"
    r"(?:(?:the|our|my|all|every|each|no|any) )?(?:[\w`'./#&-]++ ){0,5}?[\w`'./#&-]++"
)
# A value that stands right behind the verb: what comes between says how, when or where.
_LINK = (
    r"(?: (?:now|currently|always|only|still|usually|mostly|mainly|all|both|already"
    r"|around|roughly|behind|set|limited|pinned|capped|called|named|planned|scheduled|due"
    r"|on|at|in|for|to|as|by|with|from|via|under|every|after|before|until|about|up|port|version|the|a|an|our)){0,4} "
)
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:dai|week|month|night|hour)ly\b"
_EXACT = (
    r"(?:[\"'`$~./<>=]*\d|[\"`#@]\w|[.~]?/\w|https?:|[\w-]+[_./:@]\w|\w[\w-]*-\d|(?-i:[A-Z])[\w.+#-]|"
    + _DAY
    + r"|(?:first|last|second|third) (?:of (?:each|every|the)|"
    + _DAY
    + r")|(?:two|three|four|five|six|seven|eight|nine|ten|twelve) (?:weeks|days|hours|minutes|seconds|months|years"
    r"|times|retries|replicas|nodes|workers|threads)\b)"
)
_NAMED = (
    r"(?:linter|formatter|editor|shell|ide|framework|orm|theme|font|color|colour|language|compiler|broker|bundler"
    r"|package manager|code ?name|nickname|username|branch|queue|topic|channel|bucket|license|locale|runner)"
)
_STATE = (
    r"(?:slow|broken|fine|good|bad|great|wrong|down|unknown|missing|empty|full|ready|done|nice|not|too|so|very"
    r"|ok|okay|weird|unclear|outdated)\b"
)
_PARTICIPLE = (
    r"(?:written|built|kept|sent|held|made|drawn|run|set|\w{2,}(?<!ne)ed) (?:in|by|with|before|after|on|at|to|as"
    r"|from|through|via|only|under|per|every|for|without)\b"
)
_PERSON = r"(?-i:[A-Z][a-z]+)(?: (?-i:[A-Z][a-z]+))?"
# Words of remarks: judgments, what is said to the model, what holds for a moment only.
_REMARK = (
    r"(?!.*\b(?:i|you|me|us|what|in use|busy|here|above|below|following|this|that|these|those"
    r"|today|yesterday|tonight|just|again|right now"
    r"|nice|great|good|bad|hard|easy|weird|strange|odd|wrong|fine|ok|amazing|awesome|cool|beautiful|ugly|slow|confusing"
    r"|interesting|perfect|terrible|funny|sad|happy|sorry|fun|love|loved|best|worst|too|so|looks?|sounds?|feels?"
    r"|wonderful|overwhelming|fantastic|super|helpful|definitely|possible|really|quite|such|heartwarming|encouraging|clear)\b)"
)
# Nouns are capitalized in German, so that a capital alone is no name.
_EXACT_DE = r"(?:[\"'`$~./]*\d|[\"`#@]\w|[.~]?/\w|https?:|[\w-]+[_./:@]\w|\w[\w-]*-\d|(?-i:\w*[a-z][A-Z]\w*|[A-Z]{2,}))"
_EXACT_CJK = (
    r"(?:\d|[A-Za-z]{2,}|`[^`]+`|[周週]|星期|曜日|요일"
    r"|[一二三四五六七八九十两百]+(?:天|次|秒|分|小时|个|周|月|年|点))"
)

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
    # Plain statements of a person.
    _rule(
        _OPENING + r"(?:we(?:'ll| will|'re going to| are going to)|let'?s|from now on,? (?:we )?"
        r"|going forward,? (?:we )?) ?(?:use|go with|switch to|move to|target|support|deploy|keep|adopt)\b(?= ).{0,40}?"
        + _EXACT
        + r".*",
        "decision",
        "user",
    ),
    _rule(
        _OPENING
        + r"(?:we(?:'re| are) (?:dropping|moving|switching|migrating|keeping|using|staying)|we dropped"
        r"|we (?:removed|replaced|renamed)|the plan is to|the idea is to)\b .{4,}",
        "decision",
        "user",
    ),
    _rule(
        _OPENING
        + r"we (?:now |currently |always |only |never )?(?:use|deploy|host|build|target|support|release|ship"
        r"|meet|store|run|keep|log|test|require|publish|write|pin|work)\b(?: [\w`'./-]++){0,5}? "
        + _EXACT
        + r".*",
        "decision",
        "user",
    ),
    _rule(
        _OPENING
        + r"(?:my name is|i(?:'m| am) (?:called|allergic|vegetarian|vegan|based|from|responsible|located"
        r"|an? (?!bit|little|lot|huge|big|fan)|on the|in the|colou?r ?blind)"
        r"|i (?:live|work|study) (?:in|at|as|on|for|from)|i was born)\b .{2,}",
        "note",
        "user",
    ),
    _rule(
        _OPENING
        + r"i (?:(?:really |much |strongly |usually |generally )?(?:prefer|like|love|hate|dislike)"
        r"|do(?:n't| not) (?:like|want|need)|favou?r"
        r"|(?:always|never|usually|mostly) (?:use|write|want|work|read|prefer))"
        r" (?!(?:that|this|it|how|what|your|them|these|those|when|where|the (?:way|idea|look|sound))\b"
        r"|to (?:see|know|be)\b)\w.{2,}",
        "preference",
        "user",
    ),
    _rule(
        _OPENING + r"(?:my (?:favou?rite|preferred)) .{2,60}? (?:is|are) .{2,}",
        "preference",
        "user",
    ),
    _rule(
        _OPENING + r"please (?:always|never) (?!mind\b)[a-z]+ .{3,}",
        "preference",
        "user",
    ),
    _rule(
        _OPENING
        + r"(?!i\b|it\b|this\b|that\b|they\b|we\b|you\b).{3,80}? (?:fails?|failed|breaks?|broke|crash(?:es|ed)?|hangs?"
        r"|hung|leaks?|times? out|timed out|is (?:slow|broken|flaky|down)|was (?:slow|broken|flaky|down))\b.{0,60}?"
        r" (?:because|since|due to|as soon as|caused by)\b .{4,}",
        "issue",
        "user",
    ),
    _rule(
        _OPENING
        + r"(?:the|our|all) .{3,80}? (?:(?:is|was|are|were) caused by|comes? from|came from) .{4,}",
        "issue",
        "user",
    ),
    _rule(
        _OPENING
        + r"we (?:still )?(?:need to|have to|must) (?!(?:talk|think|see|look|check|go|wait|be)\b)\w+ .{6,}",
        "task_state",
        "user",
    ),
    _rule(
        _OPENING
        + r"(?:the|our) (?:[\w`./-]++ ){0,5}?[\w`./-]++ (?:is|are) (?:now |already |still |half |almost |nearly "
        r"|not yet )*(?:done|finished|complete|merged|implemented|blocked|in progress|on hold|under way|postponed|open)"
        r"(?: (?:by|until|and|because|as|since)\b.*)?[.!]?$",
        "task_state",
        "user",
    ),
    _rule(
        _OPENING
        + _PERSON
        + r" (?:owns|maintains|leads|manages|approves|handles|reviews|runs|is (?:responsible for"
        r"|in charge of|the (?:owner|lead|maintainer|contact|reviewer)\b)) .{3,}",
        "note",
        "user",
    ),
    _rule(
        _OPENING
        + _SUBJECT
        + r" (?:is|are|=|equals?|will be|must be|has to be|have to be|should be|defaults? to)"
        + _LINK
        + _EXACT
        + r".*",
        "config",
        "user",
    ),
    _rule(
        _OPENING + _SUBJECT + r" (?:is|are) (?:called|named|known as) .{2,}",
        "config",
        "user",
    ),
    _rule(
        _OPENING
        + r"(?:the|our|my) (?:[\w-]+ ){0,3}"
        + _NAMED
        + r" is (?!"
        + _STATE
        + r")[\w.+#-]{2,}(?: [\w.+#-]+)?(?:[.!]?$|[,;(]| (?:now|from now on|since|because|as of|instead)\b)",
        "config",
        "user",
    ),
    _rule(
        _OPENING
        + _SUBJECT
        + r" (?:listens?|runs?|lives?|resides?|goes?|go|targets?|uses?|requires?|needs|supports?|expires?|starts?|ends?"
        r"|points?|resolves?|rotates?|lasts?|takes?|costs?|returns?|deploys?|connects?|writes?|depends?|talks?|happens?"
        r"|only (?:happen|run|go|work)s?|has|have|"
        r"(?:is|are) (?:hosted|deployed|stored|served|built|written|located|kept|installed|mounted|exposed|limited"
        r"|released|backed up|cached))" + _LINK + _EXACT + r".*",
        "config",
        "user",
    ),
    _rule(
        _OPENING
        + _SUBJECT
        + r" (?:is|are) (?:always |never |only |not )?"
        + _PARTICIPLE
        + r" .{2,}",
        "decision",
        "user",
    ),
    _rule(
        _OPENING
        + r"(?:(?:every|all|each|no|public|private|new|external|internal) )(?:[\w`./-]++ ){0,4}?[\w`./-]++ "
        r"(?:must|needs?|requires?|has to|have to|may|gets?)\b .{3,}",
        "decision",
        "user",
    ),
    _rule(
        _OPENING + r"(?:(?:the|our|all|every|each|no) (?:[\w`./-]++ ){1,4}?|(?-i:[A-Z][a-z]+s) )"
        r"(?:must(?: not)?|only|always|never) "
        r"(?!(?:works?|pass(?:es)?|compiles?|finish(?:es)?|be|have|a|the|in|on)\b)[a-z]+(?<!ing)(?<!ed) .{3,}",
        "decision",
        "user",
    ),
    # Any verb in the present tense, or one about the future, with a value behind it.
    _rule(
        _OPENING
        + r"(?:(?:the|our|my) (?:[\w`./-]++ ){1,4}?|(?-i:[A-Z])[\w.-]++ )(?!(?:is|was|does|has|this|as)\b)[a-z]{2,}s "
        r"(?!\w+ed\b).{0,40}?(?<![\w/.-])" + _EXACT + r".*",
        "note",
        "user",
    ),
    _rule(
        _OPENING
        + _SUBJECT
        + r" (?:will|is going to|are going to) .{3,60}?(?<![\w/.-])"
        + _EXACT
        + r".*",
        "note",
        "user",
    ),
    _rule(
        _OPENING
        + r"(?:(?:the|our) (?:[\w`./-]++ ){1,3}?|(?-i:[A-Z])[\w.-]++ )(?!(?:is|was|does|has)\b)[a-z]{2,}s .{3,60}? "
        r"(?:when|once|until|as soon as|whenever) .{4,}",
        "issue",
        "user",
    ),
    _rule(
        _OPENING + r"(?:the|our) .{3,60}? (?:turned out to be|turns out to be) .{3,}",
        "issue",
        "user",
    ),
    _rule(
        _OPENING
        + r"we (?:picked|chose|selected|went with|adopted|bought|rejected|ditched|introduced|hired|signed"
        r"|launched|moved|postponed|cancell?ed)\b .{0,40}?(?<![\w/.-])" + _EXACT + r".*",
        "decision",
        "user",
    ),
    _rule(
        _OPENING
        + r"(?:nobody|no one|everyone|everybody|only [\w ]{2,30}?|(?:two|three|\d+) [\w ]{2,30}?) "
        r"(?:may|must|has to|have to|needs to|need to|can|is allowed to|are allowed to)\b .{4,}",
        "decision",
        "user",
    ),
    _rule(
        _OPENING
        + r"please (?:keep|write|make) (?:all )?(?:answers|replies|responses|explanations|messages|comments|commits"
        r"|summaries) .{3,}|please (?:answer|reply|respond|write) (?:only |always )?in .{3,}",
        "preference",
        "user",
    ),
    # Whatever else a person states of a thing.
    _rule(
        _OPENING
        + _REMARK
        + r"(?:the|our|my|all|every|each|no) (?:[\w`'./#-]++ ){1,5}?(?:is|are|has|have|had|must|may|can|cannot|can't"
        r"|will|won't|does not|doesn't|do not|don't|gets?|needs?|moved|went|[a-z]{3,}s) .{4,}",
        "note",
        "user",
    ),
    _rule(
        _OPENING
        + _REMARK
        + r"(?!(?:i|we|they|he|she|you|it|must|may|can|will|is|are|has|have|some|most|to|not|one|two|three|\w+ing)\b)"
        r"(?-i:[A-Z][\w-]*)(?: (?!(?:it|the|a|an|what|how|why|there|i|we|they|he|she|to|my|our|all)\b)[\w-]++){0,2}? "
        r"(?:is|are|must|may|cannot|will|gets?|needs?|has|have|went|replaced|replaces|joined|left|runs?) .{4,}",
        "note",
        "user",
    ),
    _rule(
        _OPENING + r"we (?:do not|don't|no longer|never|can't|cannot) "
        r"(?!(?:know|think|see|want|have time|need|care|mind)\b)[a-z]+ .{4,}",
        "decision",
        "user",
    ),
    _rule(_OPENING + r"i(?:'d| would) rather (?!not\b).{6,}", "preference", "user"),
    _rule(
        _OPENING
        + r"i (?:speak|own|play|teach|drive|eat|drink|manage|lead|report to|grew up|graduated|can't eat|cannot eat"
        r"|have (?:a|an|two|three|four|\d+) (?!question|problem|bug|idea|feeling|look|couple|few|lot))\b.{3,}",
        "note",
        "user",
    ),
    _rule(
        r"(?:(?:der|die|das|unsere?|meine?|alle) )[^,;]{2,60}? "
        r"(?:ist|sind|lautet|heißt|heißen|beträgt|läuft|laufen|liegt|liegen)"
        r"(?: (?:jetzt|nun|auf|in|bei|unter|am|im|um|der|die|das|port)){0,3} " + _EXACT_DE + r".*",
        "config",
        "user",
    ),
    _rule(
        r"wir (?:verwenden|nutzen|benutzen|deployen|setzen|bauen|testen|hosten|speichern)\b .{0,40}?"
        r"(?-i:[A-Z0-9`/])\w.*"
        r"|wir haben (?:uns )?.{0,60}(?:entschieden|beschlossen|geeinigt).*",
        "decision",
        "user",
    ),
    _rule(
        r"ich (?:bevorzuge|mag|hasse|möchte kein\w*) (?!das\b|es\b)\w.{2,}", "preference", "user"
    ),
    _rule(
        r"(?:ich (?:heiße|wohne in|arbeite (?:bei|an|als|in))|mein name ist) .{2,}", "note", "user"
    ),
    _rule(
        r"我(?:更|比较|很|最)?(?:喜欢|偏好|讨厌|习惯|不喜欢|不想要|不要)(?!这|那|你).{2,}",
        "preference",
        "user",
    ),
    _rule(r"我(?:叫|住在|在.{1,12}工作|是(?!说|想|不|要|在)).{1,}", "note", "user"),
    _rule(
        r"(?!请|帮|把|给|让|看|打开|运行|为什么|怎么).{1,24}?(?:(?<![但可还不于])是|(?<![因作认成])为|叫|监听|保留|使用|采用|部署在|部署到|放在|存在|存储在|位于|运行在|限制为?"
        r"|最多|至少|需要|支持|每) ?.{0,16}?" + _EXACT_CJK + r".*",
        "config",
        "user",
    ),
    _rule(
        r"(?!.*(?:ください|下さい|お願い|か[。.]?$)).{1,30}?(?:は|を|が|も) ?.{0,24}?"
        + _EXACT_CJK
        + r".{0,40}(?:です|ます|ました|した|する|である|だ|ない|ません|こと)[。.!！]?$",
        "config",
        "user",
    ),
    _rule(
        r"(?!.*(?:주세요|나요|까요|세요|가요)[.!]?$).{1,30}?(?:은|는|이|가|을|를) ?.{0,24}?"
        + _EXACT_CJK
        + r".{0,40}(?:다|음|함|요)[.!]?$",
        "config",
        "user",
    ),
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
    """Finds explicitly stated facts: "remember that …", "we decided …", "the port is …", "I prefer …", 记住….

    It costs nothing and knows English and Chinese, and plain statements in German, Japanese and Korean. It prefers
    precision to recall: code, quotations, questions, guesses and sentences that refer to others are skipped. Of what a
    model says, only decisions, settings, tasks and causes that it names as such count.

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
            known: list[Known | CandidateFact] = [*request.known, *found.values()]
            for kind, content in find_facts(message, known):
                # A repeated fact belongs to the message that states it last.
                found.pop(content.casefold(), None)
                found[content.casefold()] = CandidateFact(kind, content, sources=(message.segment,))
        return ExtractionResult(tuple(found.values())[-request.most :] if request.most > 0 else ())


def find_facts(
    message: Message, known: Sequence[Known | CandidateFact] = ()
) -> Iterator[tuple[FactType, str]]:
    """Yield the facts that a message states, each with its type; also those that correct a known fact."""
    for sentence in iter_sentences(message.text):
        for rule in RULES:
            match = rule.pattern.match(sentence) if message.role in rule.speakers else None
            if match is not None:
                fact, kind = match.groupdict().get("fact") or sentence, rule.type
                break
        else:
            corrected = _find_corrected(sentence, message.role, known)
            if corrected is None:
                continue
            fact, kind = sentence, corrected.type
        fact = fact.strip(" \t.。;；,，")
        if not UNCERTAIN.search(sentence) and not UNRESOLVED.match(fact):
            yield kind or _guess_type(fact), fact[:1].upper() + fact[1:]


def _find_corrected(
    sentence: str, role: str, known: Sequence[Known | CandidateFact]
) -> Known | CandidateFact | None:
    """Return the known fact that a sentence corrects, whatever its wording; None if there is none."""
    if not known or role not in {"user", "assistant"}:
        return None
    said = _core.MessageReader("script").read([{"role": role, "content": sentence}], "openai")
    corrected = _core.Corrections().find(said, [(fact.content, ()) for fact in known])
    return next((fact for fact, is_so in zip(known, corrected, strict=True) if is_so), None)


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
