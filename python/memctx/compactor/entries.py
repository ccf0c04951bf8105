"""The compaction in a transcript: which entry is the first one kept, and what is written down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memctx import _core
from memctx.errors import ConfigError

if TYPE_CHECKING:
    from memctx._core import Redactor
    from memctx.compact import Failure, Files
    from memctx.compactor.plan import Plan
    from memctx.session import Transcript


def first_kept_entry(transcript: Transcript, plan: Plan) -> str | None:
    """The entry of the first message that a plan keeps; None if none of the kept ones is written down yet.

    The newest messages need not be in the transcript yet; all before them must.

    Raises:
        ConfigError: the transcript holds another conversation.
    """
    shape = plan.conversation.shape
    context = transcript.context()
    pairs = [
        (entry_id, message)
        for entry_id, message in zip(context.entry_ids, context.messages, strict=True)
        if (entry := transcript.get(entry_id)) is not None
        and (entry.type == "message" or (shape == "pi" and entry.type != "compaction"))
    ]
    scanner = _core.Scanner(capacity=0)
    written = scanner.scan([message for _, message in pairs], shape).keys
    kept = scanner.scan(plan.messages, shape).keys[plan.cut.first_kept :]
    for count in range(min(len(written), len(kept)), 0, -1):
        if written[-count:] == kept[:count]:
            return pairs[-count][0]
    before = scanner.scan(plan.messages, shape).keys[: plan.cut.first_kept]
    if not written or (before and written[-1] == before[-1]):
        return None
    raise ConfigError(
        f"{transcript.path.name} does not end with the messages that were given; expected their transcript"
    )


def details(files: Files, failures: tuple[Failure, ...], redactor: Redactor) -> dict[str, Any]:
    """What an entry says beside the summary, in the words of session files and without secrets."""
    return {
        "readFiles": list(files.read),
        "modifiedFiles": list(files.modified),
        "toolFailures": [
            {"toolName": failure.tool, "summary": redactor.mask(str(failure)).text}
            for failure in failures
        ],
    }
