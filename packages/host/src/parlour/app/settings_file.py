"""Writes the settings file at the first start: every setting with its default, commented out."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, SecretStr

from .settings import HostSettings

HEAD = """\
# Parlour's settings. Each line shows a default: take the # away and change it, then start the Host again.
# docs/operate/settings.md explains them. Variables of the environment win over this file:
# PARLOUR__HTTP__PORT=5301, and for secrets PARLOUR__DATABASE__URL_FILE=/path/to/a/file/that/holds/it.
"""


def write(file: Path) -> None:
    """Writes the file unless it exists."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with os.fdopen(descriptor, "w", encoding="utf-8") as output:
        output.write(text())


def text() -> str:
    return HEAD + "".join(_lines())


def _lines() -> Iterator[str]:
    for name, section in HostSettings():
        if isinstance(section, BaseModel):
            yield f"\n# {name}:\n"
            for key, value in section:
                yield f"#   {key}: {_to_toml(value)}".rstrip() + "\n"


def _to_toml(value: Any) -> str:
    if value is None or isinstance(value, BaseModel | SecretStr):
        return ""
    scalar = str(value) if isinstance(value, Path) else value
    return yaml.safe_dump(scalar, default_flow_style=True, width=200).removesuffix("\n").removesuffix("\n...")
