"""Builds the table of the settings that can be changed while the Host runs, for `docs/operate/settings.md`."""

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from parlour.app.runtime_settings import declared_sections, section_class
from parlour.core.config.setting_declarations import DeclaredSection, DeclaredSetting

from .form import schema_of

PAGE = Path("docs/operate/settings.md")
BEGIN = "<!-- Written by `make documents` from the fields in app/settings.py. -->\n"
END = "<!-- End of the table. -->\n"
HEAD = ("| key | default | accepted | meaning |", "| --- | --- | --- | --- |")

Meanings = Mapping[str, str]


def with_table(page: str) -> str:
    """Returns the page with the present table between its marks."""
    before, remainder = page.split(BEGIN)
    meanings = {each.name: docstrings(section_class(each.name)) for each in declared_sections()}
    return (
        before + BEGIN + "\n" + "\n".join(rows(declared_sections(), meanings)) + "\n\n" + END + remainder.split(END)[1]
    )


def rows(sections: Sequence[DeclaredSection], meanings: Mapping[str, Meanings]) -> Iterator[str]:
    yield from HEAD
    for section in sections:
        for each in section.settings:
            meaning = meanings[section.name].get(each.name, "").removesuffix(".")
            yield f"| `{each.key}` | {_default(each)} | {_accepted_values(each)} | {meaning[:1].lower()}{meaning[1:]} |"


def docstrings(section: type) -> dict[str, str]:
    """Returns the docstring below each field of a section."""
    [definition] = ast.parse(textwrap.dedent(inspect.getsource(section))).body
    assert isinstance(definition, ast.ClassDef)
    texts: dict[str, str] = {}
    for field, next_statement in zip(definition.body, definition.body[1:], strict=False):
        match field, next_statement:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                texts[name] = " ".join(text.split())
    return texts


def _default(setting: DeclaredSetting) -> str:
    default = setting.default
    if setting.options.default_text:
        return setting.options.default_text
    if default in ("", [], None):
        return ""
    if isinstance(default, list):
        return ", ".join(f"`{each}`" for each in default)
    return f"`{default}`" if isinstance(default, str) else f"{default:,}"


def _accepted_values(setting: DeclaredSetting) -> str:
    schema = schema_of(setting)
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    if "minimum" in schema:
        return f"{schema['minimum']:,} to {schema['maximum']:,} {setting.options.unit}".rstrip()
    return "a list" if schema.get("type") == "array" else "a text"
