"""A setting that can be changed while the Host runs is declared once: everything but its labels is derived."""

import json
from typing import Annotated, Any

import pytest
from pydantic import Field, ValidationError

from parlour.app.runtime_settings import declared_sections, with_declared_settings
from parlour.app.settings import ConfigSection
from parlour.core.config.setting_declarations import DeclaredSection, RuntimeSetting
from parlour.http.settings.schemas import request_schema, response_schema
from tools.settings_documents import form, table

from .pages import ROOT

EDITED_FILES = (
    "packages/host/src/parlour/app/settings.py",
    "packages/host/src/parlour/app/runtime_settings.py",
    "web/src/locales/en.json",
    "web/src/locales/zh-Hans.json",
)
"""Files that a new setting is written into: its field, the call that passes it on, and its label in two languages."""
LOCALES = EDITED_FILES[2:]


class ToySettings(ConfigSection):
    per_hour: Annotated[int, RuntimeSetting(Annotated[int, Field(ge=1, le=60)], "How often.", "calls")] = Field(
        default=7, ge=1
    )
    """Calls of a toy in an hour."""


TOY = with_declared_settings(DeclaredSection("toys", "ToysBody", "ToysResponse"), ToySettings)


def test_a_new_setting_is_accepted_and_described_by_the_http_interface() -> None:
    request, response = request_schema([TOY]), response_schema([TOY])

    assert dict(request.model_validate({"toys": {"per_hour": 9}}).iter_changes()) == {"toys.per_hour": 9}
    with pytest.raises(ValidationError):
        request.model_validate({"toys": {"per_hour": 61}})
    described = response.model_json_schema()["$defs"]["ToysResponse"]["properties"]["per_hour"]
    assert (described["type"], described["description"]) == ("integer", "How often.")


def test_a_new_setting_is_in_the_table_and_in_the_form_of_the_page() -> None:
    [*_, row] = table.rows([TOY], {"toys": table.docstrings(ToySettings)})
    [entry] = form.entries([TOY])

    assert row == "| `toys.per_hour` | 7 | 1 to 60 calls | calls of a toy in an hour |"
    limits = {"type": "integer", "minimum": 1, "maximum": 60}
    assert entry == {"section": "toys", "name": "per_hour", "unit": "calls", "default": 7, "schema": limits}


def test_the_table_and_the_form_are_those_of_the_present_settings() -> None:
    page = (ROOT / table.PAGE).read_text(encoding="utf-8")

    assert table.with_table(page) == page, "run `make documents`"
    assert form.text() == (ROOT / form.FILE).read_text(encoding="utf-8"), "run `make documents`"


@pytest.mark.parametrize("locale", LOCALES)
def test_every_setting_has_a_label(locale: str) -> None:
    labels: dict[str, Any] = json.loads((ROOT / locale).read_text(encoding="utf-8"))["tuning"]

    names = [setting.name for section in declared_sections() for setting in section.settings]
    assert [name for name in names if name not in labels] == []


def test_no_other_file_of_the_host_or_the_form_names_a_setting() -> None:
    sources = [*(ROOT / "packages/host/src/parlour").rglob("*.py"), *(ROOT / "web/src/features").rglob("*.ts*")]

    found = {str(file.relative_to(ROOT)) for file in sources if "audit_days" in file.read_text(encoding="utf-8")}
    assert found == set(EDITED_FILES[:2])
