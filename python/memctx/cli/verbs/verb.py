"""`Verb` and `Parameter`: the records of the verb table, and the parameters that several verbs share."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memctx.cli.verbs.outcome import Outcome

Kind: TypeAlias = Literal[
    "text", "words", "flag", "integer", "number", "time", "path", "file", "folder"
]
"""A parameter's type; ``words`` is the rest of the line."""
CommonOption: TypeAlias = Literal["store", "session", "config", "json"]
"""An option that many commands share."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument of a verb or, if it has flags, an option.

    >>> Parameter("id", "the id of a fact", is_required=True).placeholder
    '<id>'
    """

    name: str
    """The handler's keyword."""
    help: str
    """An option's help text; a noun phrase for an argument."""
    flags: str = ""
    """The flags, separated by spaces."""
    kind: Kind = "text"
    _: KW_ONLY
    metavar: str | None = None
    """The placeholder in help texts."""
    is_required: bool = False
    is_repeated: bool = False
    must_exist: bool = False
    """True if a path must exist."""
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    default: object = None
    """The shell's default; None for the handler's."""
    in_chat: bool = False

    @property
    def placeholder(self) -> str:
        """The argument as a usage line shows it."""
        name = (self.metavar or self.name).lower()
        return f"<{name}>" if self.is_required else f"[{name}]"


@dataclass(frozen=True, slots=True)
class Verb:
    """A command of the shell, a slash command, or both."""

    name: str
    """One word, or a group and a word."""
    summary: str
    """One sentence without its full stop."""
    handler: str
    """``"module:function"`` in `memctx.cli.verbs`."""
    _: KW_ONLY
    details: str = ""
    """More paragraphs for the shell's help."""
    parameters: tuple[Parameter, ...] = ()
    common: tuple[CommonOption, ...] = ("store", "session", "config", "json")
    chat_name: str = ""
    """The name in a chat, if that is another."""
    aliases: tuple[str, ...] = ()
    """Other names in a chat, which take no arguments."""
    in_shell: bool = True
    in_chat: bool = False

    @property
    def chat_arguments(self) -> tuple[Parameter, ...]:
        """The arguments that the verb takes in a chat."""
        return tuple(each for each in self.parameters if each.in_chat and not each.flags)

    @property
    def chat_flags(self) -> dict[str, Parameter]:
        """The options that the verb takes in a chat, by flag."""
        return {
            flag: each for each in self.parameters if each.in_chat for flag in each.flags.split()
        }

    def chat_usages(self) -> Iterator[tuple[str, str]]:
        """Yield the verb's lines in the help of a chat: usage and summary."""
        name = self.chat_name or self.name
        arguments = [each.placeholder for each in self.chat_arguments]
        yield " ".join([name, *arguments]), self.summary
        for flag, option in self.chat_flags.items():
            yield " ".join([name, flag, *arguments]), option.help.removesuffix(".")

    def load(self) -> Callable[..., Outcome]:
        """Import and return the handler."""
        module, _, function = self.handler.partition(":")
        found = getattr(import_module(f"memctx.cli.verbs.{module}"), function)
        return cast("Callable[..., Outcome]", found)


def words(name: str, what: str, *, is_required: bool = True) -> Parameter:
    """Return an argument that takes the rest of the line; ``what`` names it in errors."""
    return Parameter(name, what, kind="words", is_required=is_required, in_chat=True)


def id_prefix(what: str) -> Parameter:
    """Return an argument for an id or a prefix of one."""
    return Parameter("id", what, is_required=True, in_chat=True)


def flag(name: str, flag: str, help: str, *, in_chat: bool = False) -> Parameter:
    """Return an option without a value."""
    return Parameter(name, help, flag, "flag", in_chat=in_chat)


def result_limit(default: int | None = 10) -> Parameter:
    """Return the option that bounds the number of results."""
    return Parameter(
        "limit", "Maximum number of results.", "-n --limit", "integer", minimum=1, default=default
    )


YES = flag("is_sure", "--yes", "Apply the changes instead of only describing them.")
TRANSCRIPT = Parameter(
    "transcript", "a transcript file", kind="file", is_required=True, must_exist=True
)
WINDOW = Parameter(
    "window", "Context window of the model, in tokens.", "--window", kind="integer", minimum=1
)
SESSION = Parameter(
    "session", "Session of TRANSCRIPT to read.  [default: the only one]", "--session", metavar="ID"
)
LIMITS = (
    Parameter(
        "max_value",
        "Maximum size of one line or JSON value.  [default: 64]",
        "--max-value",
        kind="integer",
        minimum=1,
        metavar="MIB",
    ),
    Parameter(
        "max_expanded",
        "Maximum size of a decompressed file.  [default: 64 times the compressed size]",
        "--max-expanded",
        kind="integer",
        minimum=1,
        metavar="MIB",
    ),
)
READ_TRANSCRIPT = (TRANSCRIPT, WINDOW, SESSION, *LIMITS)
