r"""Import of what was said elsewhere, and export of what is stored.

>>> import pathlib, tempfile
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> _ = (folder / "talk.jsonl").write_text('{"role": "user", "content": "The webhook listens on port 8443"}\n')
>>> import_transcripts(folder / "memory", folder / "talk.jsonl").added
1
>>> export_markdown(folder / "memory", folder / "talk.md").messages
1
"""

from memctx.transfer.exporting import Exported, export_jsonl, export_markdown
from memctx.transfer.formats import FORMATS, Format, detect_format, read_transcript
from memctx.transfer.importing import Imported, ImportProgress, import_transcripts
from memctx.transfer.said import Said

__all__ = [
    "FORMATS",
    "Exported",
    "Format",
    "ImportProgress",
    "Imported",
    "Said",
    "detect_format",
    "export_jsonl",
    "export_markdown",
    "import_transcripts",
    "read_transcript",
]
