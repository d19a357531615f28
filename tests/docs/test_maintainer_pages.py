"""Tests that the pages for maintainers match the code: layers, packages, files, symbols and units."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

from parlour.core.model.outbox_row import OutboxState

from .pages import ROOT
from .test_links import SOURCES

PAGES = ROOT / "docs/maintainers"
HOST, SDK = ROOT / "packages/host/src/parlour", ROOT / "packages/sdk/src/parlour_sdk"
CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+")
FILE = re.compile(r"[\w./-]+/[\w.-]+\.py")
UNIT = re.compile(r"[a-z_]+\.[a-z_]+")
NAME = re.compile(r"(?:[A-Z]\w*[a-z]\w*|[A-Z][A-Z_]{3,})(?:\.\w+)*")
"""A class, a constant, or a member of a class."""
NAMES_A_UNIT = re.compile(r"\bUnit(?:Builder)?\(|\bunit_name\b|\.name = ")
"""Text of the files that are worth parsing for names of units."""
BUILT = {ROOT / line.strip("/") for line in (ROOT / ".gitignore").read_text().splitlines() if line.startswith("/")}
"""Folders that `make` creates, so they may be missing in a fresh checkout."""
CHANGES = [
    *("a field of a platform event", "a platform", "a model provider", "a plugin action", "a run-time setting"),
    *("an HTTP endpoint", "a page", "splitting of long texts", "a handler type", "a vector store", "outbox retry"),
    *("a CLI command",),
]
HOW_TO = [
    *("Runner plugin", "Model provider", "Plugin action", "Setting", "HTTP endpoint", "Page", "Handler type"),
    *("Table and migration", "Background job", "CLI command"),
]


def text_of(page: str) -> str:
    return (PAGES / page).read_text(encoding="utf-8")


def rows(page: str, heading: str = "") -> Iterator[list[str]]:
    """Yields the cells of the table rows of a page, or of one of its sections."""
    section = text_of(page).split(f"\n## {heading}", 1)[1].split("\n## ", 1)[0] if heading else text_of(page)
    for line in section.splitlines():
        if line.startswith("| ") and not line.startswith("| ---"):
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def contract_layers(first: str) -> list[set[str]]:
    """Returns the layers of the contract whose first layer is this one, from the top."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    found = next(each["layers"] for each in contracts if each["type"] == "layers" and each["layers"][0] == first)
    return [{name.strip().removeprefix("parlour.") for name in re.split("[|:]", layer)} for layer in found]


@pytest.mark.parametrize(("heading", "first"), [("The Host", "parlour.cli"), ("The core", "observability")])
def test_the_map_shows_the_layers_of_the_import_contract(heading: str, first: str) -> None:
    shown: dict[int, set[str]] = {}
    for number, packages, *_ in rows("map.md", heading):
        if number.isdigit():
            shown.setdefault(int(number), set()).update(CODE.findall(packages))

    assert list(shown) == list(range(1, len(shown) + 1))
    assert list(shown.values()) == contract_layers(first)


def packages_in(folder: Path) -> set[str]:
    return {each.parent.name for each in folder.glob("*/__init__.py")}


def test_the_map_lists_every_package_and_every_plugin() -> None:
    named = {name.rpartition("/")[2] for name in CODE.findall(text_of("map.md"))}

    assert packages_in(HOST) | packages_in(HOST / "core") | packages_in(SDK) <= named
    assert {each.parent.name for each in (ROOT / "plugins").glob("*/manifest.yaml")} <= named


def test_the_map_says_where_typical_changes_are_made() -> None:
    changes = [first for first, *_ in rows("map.md", "Where do I change")]
    assert [each for each in CHANGES if each not in changes] == []


def test_each_how_to_has_steps_and_a_checklist() -> None:
    sections = dict(part.partition("\n")[::2] for part in text_of("how-to.md").split("\n## ")[1:])

    assert list(sections) == HOW_TO
    assert [name for name, text in sections.items() if "- [ ]" not in text] == []
    assert [name for name, text in sections.items() if not any(map(PATH.fullmatch, CODE.findall(text)))] == []


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_folders_that_a_page_names_exist(page: Path) -> None:
    """Covers names without an ending; `test_links` checks files. The first part of a path is a folder with code."""
    named = [each for each in CODE.findall(page.read_text(encoding="utf-8")) if PATH.fullmatch(each)]
    folders = {each.name for source in SOURCES for each in source.iterdir() if each.is_dir() and each.name[0] != "."}
    paths = [each for each in named if each.partition("/")[0] in folders]

    def exists(path: Path) -> bool:
        return path.exists() or path in BUILT

    assert [each for each in paths if not any(exists(source / each) for source in SOURCES)] == []


@cache
def identifiers() -> set[str]:
    """Returns the identifiers in the sources of the Host, the SDK, the plugins, the page and the tests."""
    folders = ("packages", "plugins", "tests", "web/src", "web/tests", "bench", "tools")
    files = [file for name in folders for ending in ("py", "ts", "tsx") for file in (ROOT / name).rglob(f"*.{ending}")]
    files += (ROOT / "web").glob("*.ts")
    texts = (file.read_text(encoding="utf-8") for file in files if "node_modules" not in file.parts)
    return {word for text in texts for word in re.findall(r"\w+", text)}


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_classes_and_constants_that_a_page_names_exist(page: Path) -> None:
    named = [each for each in CODE.findall(page.read_text(encoding="utf-8")) if NAME.fullmatch(each)]

    assert [each for each in named if not set(each.split(".")) <= identifiers()] == []


@cache
def tree(path: str) -> ast.Module:
    file = next(source / path for source in SOURCES if (source / path).exists())
    return ast.parse(file.read_text(encoding="utf-8"))


def defines(path: str, symbol: str) -> bool:
    """Returns whether the file defines this class or function, or this method of a class."""
    owner, _, member = symbol.partition(".")
    kinds = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    found = [each for each in tree(path).body if isinstance(each, kinds) and each.name == owner]
    if not member:
        return bool(found)
    return any(isinstance(each, kinds) and each.name == member for owned in found for each in owned.body)


def texts_in(value: ast.expr) -> Iterator[str]:
    yield from (
        each.value for each in ast.walk(value) if isinstance(each, ast.Constant) and isinstance(each.value, str)
    )


@cache
def unit_names() -> set[str]:
    """Returns the names of units: given to a unit or its builder, or assigned to its name. Those of the outbox end with
    the state of the row.
    """
    names = {f"outbox.{state}" for state in get_args(OutboxState)}
    sources = (file.read_text(encoding="utf-8") for file in HOST.rglob("*.py"))
    for source in filter(NAMES_A_UNIT.search, sources):
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.Call(func=ast.Name(id="Unit" | "UnitBuilder"), args=[value, *_]):
                    names.update(texts_in(value))
                case ast.Assign(targets=[ast.Attribute(attr="name")], value=value):
                    names.update(texts_in(value))
                case ast.AnnAssign(target=ast.Name(id="unit_name"), value=ast.expr() as value):
                    names.update(texts_in(value))
    return names


def path_steps() -> list[tuple[str, str, str]]:
    """Returns title, place and units of every step on the page about the path of a message."""
    return [(title, where, unit) for number, title, where, unit in rows("message-path.md") if number.isdigit()]


def test_the_path_of_a_message_names_existing_files_and_symbols() -> None:
    assert len(path_steps()) > 25
    for title, where, _ in path_steps():
        places = [each.partition(": ") for each in where.split("; ")]
        assert places, title
        for file, _, symbols in places:
            path = file.strip("`")
            assert FILE.fullmatch(path), f"{title}: {file}"
            named = CODE.findall(symbols)
            assert named, f"{title}: {file} without a symbol"
            assert [each for each in named if not defines(path, each)] == [], f"{title}: {path}"


def test_the_path_of_a_message_names_existing_units() -> None:
    named = {each for _, _, units in path_steps() for each in CODE.findall(units)}

    assert {"event.begin", "event.accept", "run.open", "run.end", "outbox.sending", "outbox.sent"} <= named
    assert named - unit_names() == set()


def test_names_in_the_text_about_the_path_of_a_message_exist() -> None:
    prose = "\n".join(line for line in text_of("message-path.md").splitlines() if not line.startswith("|"))
    files = [each for each in CODE.findall(prose) if FILE.fullmatch(each)]
    others = [each for each in CODE.findall(prose) if not PATH.fullmatch(each)]

    assert files
    assert others
    for each in others:
        known = each in unit_names() if UNIT.fullmatch(each) else any(defines(file, each) for file in files)
        assert known, each
