"""Weights of the sentence encoder that memctx embeds text with by default.

>>> import memctx_model
>>> memctx_model.PATH.name
'encoder.safetensors'
"""

from pathlib import Path

__version__ = "0.1.0"

__all__ = ["PATH", "is_intact", "sha256"]

PATH = Path(__file__).with_name("encoder.safetensors")
"""The file of the weights, which `memctx._core.Encoder.load` reads."""


def sha256() -> str:
    """Return the SHA-256 that the file must have, in hexadecimal.

    Raises:
        OSError: The checksum is missing or cannot be read.
    """
    return PATH.with_name(f"{PATH.name}.sha256").read_text("ascii").split()[0]


def is_intact() -> bool:
    """Read the whole file and return whether it has its SHA-256.

    Raises:
        OSError: The file or its checksum is missing or cannot be read.
    """
    from hashlib import file_digest  # noqa: PLC0415 - slow to import, and only the path is needed to load the weights

    with PATH.open("rb") as file:
        return file_digest(file, "sha256").hexdigest() == sha256()
