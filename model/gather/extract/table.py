"""Which extractor each source has."""

from gather.extract.catalogues import (
    android,
    fluent_files,
    gettext,
    json_files,
    properties,
    scripts,
    short_pages,
)
from gather.extract.code import go, python
from gather.extract.dictionaries import (
    annotations,
    cedict,
    context,
    english_wordnet,
    jmdict,
    kengdic,
    nothing,
    presets,
    wordnet,
)
from gather.extract.documents import documents, translated, under
from gather.extract.sentences import (
    answers,
    cells,
    choices,
    field,
    groups,
    intents,
    judged,
    line_by_line,
    plain_lines,
    reduced,
    scored,
    splits,
    tatoeba,
)
from gather.extract.shape import Extractor, in_turn
from gather.extract.styles import styled
from gather.extract.talk import (
    bilingual,
    both,
    json_dialogues,
    json_lines,
    listed,
    lists,
    manuals,
    replies,
    rounds,
    single,
    told_apart,
)
from gather.text import is_long_enough

_GOOD_SCORE = 3.2
_NOT_PAGES = (
    r"(?:^|/)(?:\.|README|CONTRIBUTING|SUMMARY|TOC|CHANGELOG|_index\.md$)|release-notes|/releases/"
)
_ANDROID = android({"zh": "-zh-rCN", "ja": "-ja", "ko": "-ko"})
_TESTS = r"(?:^|/)(?:tests?|migrations)(?:/|_)"


def _react(code: str) -> Extractor:
    return translated(under("src/content/"), {code: under("src/content/")})


def _vue(code: str) -> Extractor:
    return translated(under("src/"), {code: under("src/")})


def _rust(code: str) -> Extractor:
    return translated(under("src/"), {code: under("src/")})


def _microsoft(code: str) -> Extractor:
    return translated(under("docs/"), {code: under("docs/")})


def _cldr(package: str, name: str) -> Extractor:
    path = f"cldr-json/{package}/main/{{}}/{name}.json"
    return json_files(path.format("en"), {code: path.format(code) for code in ("zh", "ja", "ko")})


EXTRACTORS: dict[str, Extractor] = {
    # Everyday sentences and their translations.
    "tatoeba-zh": tatoeba("cmn.txt", "zh"),
    "tatoeba-ja": tatoeba("data/jpn.txt", "ja"),
    "tatoeba-ko": tatoeba("kor-eng/kor.txt", "ko"),
    "tanaka": line_by_line("train.en", {"ja": "train.ja"}, tokens=True),
    "ami-meetings": bilingual(".json", "ja"),
    "ntrex": line_by_line(
        "NTREX-128/newstest2019-src.eng.txt",
        {
            "zh": "NTREX-128/newstest2019-ref.zho-CN.txt",
            "ja": "NTREX-128/newstest2019-ref.jpn.txt",
            "ko": "NTREX-128/newstest2019-ref.kor.txt",
        },
    ),
    "korean-parallel": in_turn(
        line_by_line(
            "korean-english-jhe/jhe-koen-dev.en", {"ko": "korean-english-jhe/jhe-koen-dev.ko"}
        ),
        line_by_line(
            "korean-english-jhe/jhe-koen-eval.en", {"ko": "korean-english-jhe/jhe-koen-eval.ko"}
        ),
    ),
    "common-voice": plain_lines(
        {
            "en": "server/data/en/",
            "zh": "server/data/zh-CN/",
            "ja": "server/data/ja/",
            "ko": "server/data/ko/",
        },
        but=r"/wiki\.|singleword|fxvoice",
    ),
    "nsmc": field("raw/", "review", "ko", is_long_enough),
    "3i4k": cells(r"data/fci\.txt", 1, "ko"),
    # Dialogue.
    "schema-guided": json_dialogues(
        r"(?:train|dev|test)/dialogues_\d+\.json", "en", listed("turns", "utterance")
    ),
    "taskmaster": json_dialogues(r"TM-[1-4]-\d+/data/.*\.json", "en", listed("utterances", "text")),
    "topical-chat": json_dialogues(r"conversations/.*\.json", "en", listed("content", "message")),
    "synthetic-persona-chat": told_apart("data/", 2),
    "real-persona-chat": json_dialogues(
        r"real_persona_chat/dialogues/\d+\.json", "ja", single("utterances", "text")
    ),
    "accommodation-search": json_lines("data/", "ja"),
    "kdconv": json_dialogues(
        r"data/\w+/(?:train|dev|test)\.json", "zh", listed("messages", "message")
    ),
    "crosswoz": json_dialogues(
        r"data/crosswoz/\w+\.json\.zip", "zh", listed("messages", "content")
    ),
    "smile": json_dialogues(r"data/\d+\.json", "zh", single(None, "content")),
    "hg-tods": in_turn(
        json_dialogues(
            r"DialogueDataset/Music_\w*knowledge\w+/\w+_dialog\.json",
            "ko",
            both("user_message", "system_message"),
        ),
        json_dialogues(r"DialogueDataset/Manual_\w+/manual2dial_dial_\w+\.json", "ko", manuals),
    ),
    "xpersona": in_turn(
        json_dialogues(r"dataset/Zh_persona_split_\w+_human_annotated\.json", "zh", rounds),
        json_dialogues(r"dataset/Jp_persona_split_\w+_human_annotated\.json", "ja", rounds),
        json_dialogues(r"dataset/Ko_persona_split_\w+_human_annotated\.json", "ko", rounds),
    ),
    "korean-chatbot": replies("ChatbotData.csv", "ko"),
    "chatterbot-corpus": lists(
        {
            "en": "chatterbot_corpus/data/english/",
            "zh": "chatterbot_corpus/data/chinese/",
            "ja": "chatterbot_corpus/data/japanese/",
            "ko": "chatterbot_corpus/data/korean/",
        }
    ),
    # Requests and questions.
    "banking": cells(r"banking_data/t\w+\.csv", 0, "en", delimiter=",", skip=1),
    "intents": intents("data/data_full.json"),
    "query-wellformedness": cells(r"\w+\.tsv", 0, "en"),
    "medquad": answers(""),
    # Paraphrases.
    "parakqc": groups(r"data/paraKQC_v1\.txt", 2, "ko"),
    "stylekqc": groups(r"topic/\w+\.tsv", 1, "ko", skip=1),
    "kosp2e-stylekqc": styled(
        {
            "tatoeba-ko": tatoeba("kor-eng/kor.txt", "ko"),
            "renpy": scripts({"ko": "/tl/korean/"}),
            "adarkroom": gettext({"ko": "lang/ko/"}),
        }
    ),
    "sae4k": reduced("data/sae4k_v1.txt", "ko"),
    "korean-question-pairs": scored(r"kor_[pP]air_\w+\.csv", (3, 4, 5), "ko", 1, comma=True),
    "korsts": scored(r"KorSTS/sts-(?:dev|test)\.tsv", (5, 6, 4), "ko", _GOOD_SCORE),
    "klue": judged(r"klue_benchmark/klue-(?:nli|sts)-v1\.1/.*_dev\.json", "ko", _GOOD_SCORE),
    "jglue": in_turn(
        judged(r"datasets/(?:jsts|jnli)-v1\.3/(?:train|valid)-v1\.3\.json", "ja", _GOOD_SCORE),
        choices(r"datasets/jcommonsenseqa-v1\.3/(?:train|valid)-v1\.3\.json", "ja"),
    ),
    "wiki-split": splits(r"(?:tune|test|validation)\.tsv"),
    # Words and what they mean.
    "kengdic": kengdic("ezcorean_6000.sql"),
    "korean-context": context(
        "data/context/",
        but=r"/(?:anatomy|body-misc|colors|consonants|countries|double-consonants|geography|particles|verb-stems|vowels)\b",
    ),
    "cc-cedict": cedict("cedict_1_0_ts_utf-8_mdbg.txt.gz"),
    "jmdict": jmdict("jamdict.db.xz"),
    "interlingual-index": nothing,
    "english-wordnet": english_wordnet,
    "chinese-wordnet": wordnet(
        {"zh": "wns/cow/wn-data-cmn.tab"}, "english-wordnet", "interlingual-index"
    ),
    "wiktionary-wordnet": wordnet(
        {
            "zh": "wns/wikt/wn-wikt-cmn.tab",
            "ja": "wns/wikt/wn-wikt-jpn.tab",
            "ko": "wns/wikt/wn-wikt-kor.tab",
        },
        "english-wordnet",
        "interlingual-index",
    ),
    "emoji-names": annotations("cldr-json/cldr-annotations-full/annotations/", ("zh", "ja", "ko")),
    "map-features": presets(
        "dist/translations/", {"zh": "zh-CN.json", "ja": "ja.json", "ko": "ko.json"}
    ),
    "time-words": in_turn(
        _cldr("cldr-dates-full", "dateFields"), _cldr("cldr-units-full", "units")
    ),
    # Games and interfaces.
    "android-calendar": _ANDROID,
    "android-clock": _ANDROID,
    "android-contacts": _ANDROID,
    "android-email": _ANDROID,
    "android-gallery": _ANDROID,
    "android-messaging": _ANDROID,
    "android-permissions": _ANDROID,
    "android-phone": _ANDROID,
    "android-settings": _ANDROID,
    "talkback": _ANDROID,
    "evolve": json_files(
        "strings/strings.json",
        {
            "zh": "strings/strings.zh-CN.json",
            "ja": "strings/strings.ja-JP.json",
            "ko": "strings/strings.ko-KR.json",
        },
    ),
    "unciv": properties(
        {
            "zh": "translations/Simplified_Chinese.properties",
            "ja": "translations/Japanese.properties",
            "ko": "translations/Korean.properties",
        }
    ),
    "adarkroom": gettext({"zh": "lang/zh_cn/", "ja": "lang/ja/", "ko": "lang/ko/"}),
    "renpy": scripts({"zh": "/tl/schinese/", "ja": "/tl/japanese/", "ko": "/tl/korean/"}),
    "mozilla-org": fluent_files("en/", {"zh": "zh-CN/", "ja": "ja/", "ko": "ko/"}),
    "firefox": fluent_files("", {}),
    "firefox-translated": fluent_files("", {"zh": "zh-CN/", "ja": "ja/", "ko": "ko/"}),
    # Help and guides.
    "opensource-guide": translated(
        under("_articles/", but="^_articles/[^/]+/"),
        {
            "zh": under("_articles/zh-hans/"),
            "ja": under("_articles/ja/"),
            "ko": under("_articles/ko/"),
        },
    ),
    "github-docs": documents(under("content/")),
    "support-articles": documents(under("support/", but=_NOT_PAGES)),
    "windows-docs": documents(under("", but=_NOT_PAGES)),
    # Technical documentation with translations.
    "mdn": documents(under("files/en-us/")),
    "mdn-translated": translated(
        under("files/en-us/"),
        {"zh": under("files/zh-cn/"), "ja": under("files/ja/"), "ko": under("files/ko/")},
    ),
    "kubernetes": translated(
        under("content/en/"),
        {"zh": under("content/zh-cn/"), "ja": under("content/ja/"), "ko": under("content/ko/")},
    ),
    "ethereum": translated(
        under("public/content/", but="/translations/"),
        {
            "zh": under("public/content/translations/zh/"),
            "ja": under("public/content/translations/ja/"),
            "ko": under("public/content/translations/ko/"),
        },
    ),
    "react": documents(under("src/content/")),
    "react-zh": _react("zh"),
    "react-ja": _react("ja"),
    "react-ko": _react("ko"),
    "vue": documents(under("src/")),
    "vue-zh": _vue("zh"),
    "vue-ja": _vue("ja"),
    "vue-ko": _vue("ko"),
    "rust-book": documents(under("src/")),
    "rust-book-zh": _rust("zh"),
    "rust-book-ja": _rust("ja"),
    "rust-book-ko": _rust("ko"),
    "comprehensive-rust": gettext({"zh": "po/zh-CN", "ja": "po/ja", "ko": "po/ko"}),
    "angular-ja": translated(
        under("adev-ja/src/content/", ".en.md"),
        {"ja": under("adev-ja/src/content/", ".md", but=r"\.en\.md$")},
    ),
    "tidb": documents(under("", but=_NOT_PAGES)),
    "tidb-zh": translated(under("", but=_NOT_PAGES), {"zh": under("", but=_NOT_PAGES)}),
    "transformers": translated(
        under("docs/source/en/"),
        {
            "zh": under("docs/source/zh/"),
            "ja": under("docs/source/ja/"),
            "ko": under("docs/source/ko/"),
        },
    ),
    "hugging-face-course": translated(
        under("chapters/en/", ".mdx"),
        {
            "zh": under("chapters/zh-CN/", ".mdx"),
            "ja": under("chapters/ja/", ".mdx"),
            "ko": under("chapters/ko/", ".mdx"),
        },
    ),
    "tensorflow": translated(
        under("site/en-snapshot/", ""),
        {"zh": under("site/zh-cn/", ""), "ja": under("site/ja/", ""), "ko": under("site/ko/", "")},
    ),
    "cpp": documents(under("docs/")),
    "cpp-ko": _microsoft("ko"),
    "visual-studio": documents(under("docs/")),
    "visual-studio-ko": _microsoft("ko"),
    "godot": gettext(
        {"zh": "sphinx/po/zh_CN/", "ja": "sphinx/po/ja/", "ko": "sphinx/po/ko/"},
    ),
    "python-zh": gettext({"zh": ""}),
    "python-ja": gettext({"ja": ""}),
    "python-ko": gettext({"ko": ""}),
    # Code.
    "tldr": short_pages({"en": "pages", "zh": "pages.zh", "ja": "pages.ja", "ko": "pages.ko"}),
    "learnxinyminutes": documents(under("", but=r"^[a-z]{2}(?:-[a-z]+)?/|README|CONTRIBUTING")),
    "the-algorithms": python("", but=_TESTS),
    "django": python("django/", but=_TESTS),
    "go": go("src/"),
}
