"""Texts that agents and users write: talk, source code, logs, diffs and directory listings, in four scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

SUBJECTS = (
    "tile renderer;label parser;route planner;wire protocol;session picker;font cache;undo history;key bindings;"
    "clipboard bridge;syntax theme;search overlay;tab completion;markdown view;image preview;diff viewer;spell checker;"
    "crash reporter;update channel;plugin loader;settings page;login dialog;export wizard;print layout;audio mixer"
).split(";")
NOUNS = (
    "anchor array badge border branch buffer bundle button canvas caret cell chunk column command cursor delay depth "
    "digest edge entry event factor field filter frame glyph gutter handle header hint index input item kernel label "
    "layer layout length limit line listener margin marker menu mode node offset option overlay packet padding page "
    "panel parser path pixel pointer prefix prompt queue range record region render request result row scroll section "
    "selection shape signal slice slot snapshot span stack state step stream style suffix table tag target theme token "
    "tree trigger value vector view viewport widget width window word wrapper"
).split()
VERBS = (
    "aligns appends attaches caches clamps clears clips closes collapses copies counts decodes defers deletes draws "
    "drops emits escapes expands fetches flattens floats flushes folds guards hides indents inlines inserts joins "
    "keeps loads locks maps marks measures merges moves opens overlaps pads paints parses patches pins polls prints "
    "queues reads rejects renames replaces resets resizes restores retries returns rotates rounds scans shifts skips "
    "sorts splits stores swaps trims truncates updates validates wraps writes"
).split()
ADJECTIVES = (
    "active ascii blank bold bright broken cached closed cold dark dashed deep duplicate empty even exact first flat "
    "frozen full global hidden idle inner invalid italic large last lazy left local long loose lost narrow native "
    "nested new odd old open outer partial plain previous quiet raw remote right rough sharp short slow small soft "
    "sparse stale static strict tall thin unused upper visible wide wrong"
).split()
MOMENTS = (
    "after a resize;before the first paint;in dark mode;on a narrow terminal;when the input is empty;once per frame;"
    "while text is selected;under tmux;with wide characters;at the end of a line;on the second call;in watch mode;"
    "when two events collide;during a reload;behind a slow connection;after ten minutes of work"
).split(";")
CHINESE = (
    "终端变窄以后换行位置不对，先检查宽字符的计算。",
    "主题文件还没有加载完成，颜色会先用默认值。",
    "撤销两次以后光标停在错误的位置。",
    "导出之前要确认页边距和字体已经保存。",
    "搜索结果太多时滚动会卡住，需要分页。",
    "插件升级以后旧的快捷键不再生效。",
)
JAPANESE = (
    "端末の幅を変えると折り返し位置がずれます。",
    "テーマを切り替えた直後に色が一瞬だけ戻ります。",
    "検索結果が多いとスクロールが止まります。",
)
KOREAN = (
    "창 크기를 줄이면 줄바꿈 위치가 어긋납니다.",
    "테마를 바꾸면 색상이 잠깐 초기화됩니다.",
    "검색 결과가 많으면 스크롤이 멈춥니다.",
)


def sentence(chance: random.Random, subject: str = "") -> str:
    """Return one sentence, about the subject where there is one."""
    first, second = chance.choices(NOUNS, k=2)
    of = f" of the {subject}" if subject and chance.random() < 0.6 else ""
    adjective, verb, moment = (chance.choice(each) for each in (ADJECTIVES, VERBS, MOMENTS))
    return f"The {adjective} {first}{of} {verb} the {second} {moment}."


def talk(chance: random.Random, count: int, subject: str = "") -> str:
    """Return sentences, now and then one in Chinese, Japanese or Korean."""
    said = [sentence(chance, subject) for _ in range(count)]
    if chance.random() < 0.08:
        said.append(chance.choice(chance.choice((CHINESE, JAPANESE, KOREAN))))
    return " ".join(said)


def path(chance: random.Random, subject: str) -> str:
    """Return a file of the subject."""
    folder = subject.replace(" ", "-")
    return f"packages/{folder}/src/{chance.choice(NOUNS)}-{chance.choice(NOUNS)}.ts"


def code(chance: random.Random, lines: int) -> str:
    """Return lines of a program with numbered values."""
    names, verbs = chance.choices(NOUNS, k=3 * lines), chance.choices(VERBS, k=lines)
    rows = []
    for number in range(lines):
        one, two, three = names[3 * number : 3 * number + 3]
        indent = "    " * (number % 3)
        rows.append(
            f"{indent}const {one}{number} = {two}.{verbs[number]}({three}, {number * 7 % 101});"
        )
    return "\n".join(rows)


def log(chance: random.Random, lines: int, subject: str) -> str:
    """Return lines of a log."""
    return "\n".join(
        f"{9 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02} {subject}[{chance.randrange(999)}] "
        f"{sentence(chance)}"
        for number in range(lines)
    )


def listing(chance: random.Random, lines: int, subject: str) -> str:
    """Return the output of a search through files."""
    return "\n".join(
        f"./{path(chance, subject)}:{chance.randrange(1, 900)}:{chance.choice(VERBS)} {chance.choice(NOUNS)}"
        for _ in range(lines)
    )


def diff(chance: random.Random, lines: int) -> str:
    """Return a unified diff."""
    marks = chance.choices((" ", "-", "+"), k=lines)
    return "\n".join(
        f"{mark}{number:4} {row}"
        for number, (mark, row) in enumerate(
            zip(marks, code(chance, lines).splitlines(), strict=True), 40
        )
    )


def output(chance: random.Random, length: int, subject: str) -> str:
    """Return about ``size`` characters of tool output."""
    make = chance.choice(("code", "log", "listing"))
    lines = max(1, length // 70)
    if make == "code":
        return code(chance, lines)
    return log(chance, lines, subject) if make == "log" else listing(chance, lines, subject)
