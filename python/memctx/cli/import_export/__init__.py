r"""Transcript readers, import into a store, and export.

>>> import pathlib, tempfile
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> _ = (folder / "talk.jsonl").write_text('{"role": "user", "content": "The webhook listens on port 8443"}\n')
>>> import_transcripts(folder / "memory", folder / "talk.jsonl").added
1
>>> export_markdown(folder / "memory", folder / "talk.md").messages
1
"""

from memctx import checks
from memctx.cli.import_export.exporting import Exported, export_jsonl, export_markdown
from memctx.cli.import_export.formats import FORMATS, Format, detect_format, read_transcript
from memctx.cli.import_export.importing import Imported, ImportProgress, import_transcripts
from memctx.cli.import_export.readers.gemini import find_compressions as find_compressions
from memctx.cli.import_export.readers.opencode import read_parts as read_parts
from memctx.cli.import_export.sessions import read_session as read_session
from memctx.cli.import_export.streams import Limits
from memctx.cli.import_export.transcript_file import TranscriptFile as TranscriptFile
from memctx.cli.import_export.transcript_file import TranscriptMessage

__all__ = [
    "FORMATS",
    "Exported",
    "Format",
    "ImportProgress",
    "Imported",
    "Limits",
    "TranscriptMessage",
    "detect_format",
    "export_jsonl",
    "export_markdown",
    "import_transcripts",
    "read_transcript",
]

checks.guard(globals(), __all__)
