"""`python -m tools.protocol_documents [FOLDER]` writes the schema and the reference page."""

import json
import sys
from pathlib import Path

from .reference import page
from .schema import whole

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/protocol")
folder.mkdir(parents=True, exist_ok=True)
schema = whole()
(folder / "schema.json").write_text(json.dumps(schema, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
(folder / "reference.md").write_text(page(schema), encoding="utf-8")
