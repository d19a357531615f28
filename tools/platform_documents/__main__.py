"""`python -m tools.platform_documents [FOLDER]` writes `platforms/README.md` and a page for each platform."""

import sys
from pathlib import Path

from . import files

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs")
for name, text in files.pages(Path("docs")).items():
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
