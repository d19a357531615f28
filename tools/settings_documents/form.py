"""Lists the settings that can be changed while the Host runs, with their limits, for the form of the page."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from parlour.app.runtime_settings import declared_sections
from parlour.core.config.setting_declarations import DeclaredSection, DeclaredSetting

FILE = Path("web/src/api/runtime_settings.json")


def entries(sections: Sequence[DeclaredSection]) -> list[dict[str, Any]]:
    return [_entry(setting) for section in sections for setting in section.settings]


def text() -> str:
    return json.dumps(entries(declared_sections()), indent=2, ensure_ascii=False) + "\n"


def schema_of(setting: DeclaredSetting) -> dict[str, Any]:
    """Returns the JSON schema of a new value."""
    schema = TypeAdapter(setting.accepts).json_schema()
    return {name: value for name, value in schema.items() if name != "description"}


def _entry(setting: DeclaredSetting) -> dict[str, Any]:
    return {
        "section": setting.section,
        "name": setting.name,
        "unit": setting.options.unit,
        "default": setting.default,
        "schema": schema_of(setting),
    }
