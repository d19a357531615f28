"""Collects every name that users, plugins, dashboards and stored data rely on.

The snapshot in `tests/contracts/public_names.json` contains the names of units, error codes, metrics, settings, command
line options, tables, HTTP operations and protocol files. A change of it is a change of the public contract.
"""

import json
from pathlib import Path
from typing import Any

from . import command_line, documents, source_strings

SNAPSHOT = Path("tests/contracts/public_names.json")


def collect() -> dict[str, Any]:
    return {
        "units": source_strings.unit_names(),
        "error_codes": source_strings.error_codes(),
        "metrics": source_strings.metrics(),
        "settings": documents.settings(),
        "command_line": command_line.options(),
        "files": documents.digests(),
        "http": documents.http_operations(),
    }


def to_text(names: dict[str, Any]) -> str:
    return json.dumps(names, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
