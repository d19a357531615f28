"""Reads what the extraction finds and no reader of the page or the HTTP interface sees as a sentence.

Add a module to `not_shown.json` only if none of its strings can reach an answer, a state or a reason (the command line,
the start of the Host, statements for the database, the English document); add a single string otherwise (words that are
looked for in answers of others, content for models and chats, values of headers).
"""

import json
from pathlib import Path

_READ = json.loads((Path(__file__).parent / "not_shown.json").read_text(encoding="utf-8"))
MODULES: tuple[str, ...] = tuple(_READ["modules"])
STRINGS: frozenset[str] = frozenset(_READ["strings"])
