"""Write the generated sessions into a folder: `python -m generated FOLDER`."""

import sys
from pathlib import Path

from .folder import write

write(Path(sys.argv[1]))
