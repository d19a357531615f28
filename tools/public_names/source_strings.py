"""Finds unit names, error codes and metric names among the string constants of the Host and the SDK."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SOURCES = (Path("packages/host/src/parlour"), Path("packages/sdk/src/parlour_sdk"))
LEFT_OUT = {"testing", "migrations", "page", "_renamed.py"}
UNIT = re.compile(r"[a-z_]+\.[a-z_]+")
CODE = re.compile(r"[a-z]+[a-z_.]*[a-z]")
METRIC = re.compile(r"parlour_[a-z_]+")


@cache
def _trees() -> tuple[ast.Module, ...]:
    paths = [path for source in SOURCES for path in sorted(source.rglob("*.py")) if not LEFT_OUT & set(path.parts)]
    return tuple(ast.parse(path.read_text(encoding="utf-8")) for path in paths)


def _nodes() -> Iterator[ast.AST]:
    for tree in _trees():
        yield from ast.walk(tree)


def _strings(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def unit_names() -> list[str]:
    """Returns the dotted names in any string constant: units of work, event types and plugin actions."""
    names = {text for node in _nodes() if isinstance(node, ast.Constant) and isinstance(text := node.value, str)}
    return sorted(text for text in names if UNIT.fullmatch(text) and not text.startswith(("parlour.", "parlour_sdk.")))


def error_codes() -> list[str]:
    """Returns the first argument of each raised error, and each `code = "..."` of a class, that looks like a code."""
    codes: set[str] = set()
    for node in _nodes():
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            codes.update(_strings(node.exc.args[0]))
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "code" for t in node.targets):
            codes.update(_strings(node.value))
    return sorted(text for text in codes if CODE.fullmatch(text) and ("_" in text or "." in text))


def metrics() -> list[str]:
    names = {
        match
        for node in _nodes()
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for match in METRIC.findall(node.value)
    }
    return sorted(names - {"parlour_sdk"})
