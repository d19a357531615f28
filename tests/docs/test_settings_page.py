"""Tests that the page about settings names every setting and no other."""

import re
from collections.abc import Iterator

from pydantic import BaseModel

from parlour.app.settings import HostSettings

from .pages import ROOT


def settings(part: BaseModel, path: str = "") -> Iterator[str]:
    for name in type(part).model_fields:
        value = getattr(part, name)
        if isinstance(value, BaseModel):
            yield from settings(value, f"{path}{name}.")
        else:
            yield path + name


def named() -> Iterator[str]:
    """Returns the names in the first column of the tables; `.bucket` continues the name before it."""
    page = (ROOT / "docs" / "operate" / "settings.md").read_text(encoding="utf-8")
    tables = [part.split("\n\n")[0] for part in re.split(r"\| key \| default \| (?:accepted \| )?meaning \|", page)[1:]]
    for row in (row for table in tables for row in table.splitlines()[2:]):
        before = ""
        for name in re.findall(r"`([\w.]+)`", row.split("|")[1]):
            before = name if not name.startswith(".") else before.rpartition(".")[0] + name
            yield before


def test_every_setting_is_in_the_table_once_and_nothing_else_is() -> None:
    in_table = sorted(name for name in named() if not name.startswith("artifacts.s3."))

    assert in_table == sorted(name for name in settings(HostSettings()) if name != "artifacts.s3")
