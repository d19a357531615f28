"""Tests that each module whose path is held in a string exists, since neither mypy nor a rename finds those."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec, resolve_name
from pathlib import Path

import pytest

from parlour.cli.commands import COMMANDS, CliCommand
from tests.support.harness import ROOT

SOURCES = [ROOT / "packages" / "host" / "src", ROOT / "packages" / "sdk" / "src"]
ABSOLUTE = re.compile(r"(parlour|parlour_sdk)(\.[a-z_]\w*)+")
RELATIVE = re.compile(r"\.+[a-z_]\w*(\.[a-z_]\w*)*")
LOGGERS = {"parlour.agents", "parlour.chat", "parlour.http_agent", "parlour.testing", "parlour.worker"}
"""Names of loggers that are no modules; `parlour.testing` is one of the SDK, which knows no module of the Host."""
ATTRIBUTES = {"parlour.cost_micros", "parlour.event_id", "parlour.run.status", "parlour.run_id", "parlour.runner_id"}
"""Attributes of traces."""
FILES = {"parlour.db", "parlour.sealed", "parlour.socket", "parlour.test"}
"""A file, the key of a sealed secret, an extension of ASGI, and the name of a test server."""


def strings(file: Path) -> Iterator[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    yield from (each.value for each in ast.walk(tree) if isinstance(each, ast.Constant) and isinstance(each.value, str))


def package_of(file: Path, source: Path) -> str:
    return ".".join(file.relative_to(source).parent.parts)


def imported_by_name(file: Path) -> Iterator[str]:
    """Yields the literal first arguments of `import_module`."""
    for each in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(each, ast.Call) and "import_module" in ast.dump(each.func) and each.args:
            first = each.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def named_modules() -> set[str]:
    found = set()
    for source in SOURCES:
        for file in source.rglob("*.py"):
            package = package_of(file, source)
            found |= {each for each in strings(file) if ABSOLUTE.fullmatch(each)}
            relative = imported_by_name(file)
            if file.name == "__init__.py":  # tables of lazy imports
                relative = strings(file)
            found |= {resolve_name(each, package) for each in relative if RELATIVE.fullmatch(each)}
    return found - LOGGERS - ATTRIBUTES - FILES


def exists(name: str) -> bool:
    """Returns true for a module, and for an attribute of one."""
    try:
        if find_spec(name) is not None:
            return True
    except ModuleNotFoundError:
        pass
    module, _, attribute = name.rpartition(".")
    return bool(module) and find_spec(module) is not None and hasattr(import_module(module), attribute)


def test_each_module_that_a_string_names_exists() -> None:
    named = named_modules()
    assert len(named) > 40, "the search finds too little"
    assert sorted(name for name in named if not exists(name)) == []


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.words)
def test_each_command_names_a_function(command: CliCommand) -> None:
    module, _, function = command.function.partition(":")
    assert callable(getattr(import_module(f"parlour.cli.{module}"), function))
