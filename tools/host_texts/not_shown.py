"""Reads the list of extracted strings that users of the page and the HTTP interface never see as a text.

Add a module to `not_shown.json` only if none of its strings can reach a response, a state or a reason (the command
line, the start of the Host, database statements, the English document). Otherwise add the single string (search terms
for responses of other services, content for models and chats, header values).
"""

import json
from pathlib import Path

_READ = json.loads((Path(__file__).parent / "not_shown.json").read_text(encoding="utf-8"))
MODULES: tuple[str, ...] = tuple(_READ["modules"])
STRINGS: frozenset[str] = frozenset(_READ["strings"])
