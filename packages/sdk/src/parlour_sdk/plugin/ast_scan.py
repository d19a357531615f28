"""Finds `plugin(...)` and decorators with their literal arguments in the syntax tree of a Python file."""

import ast
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

from parlour_sdk import decorators

from ..values import dataclass
from . import errors
from .errors import SourceLocation

SIGNATURES: Final[dict[str, Callable[..., Any]]] = {
    name: getattr(decorators, name) for name in ("plugin", "runner", "tool", "command", "on")
}
MAX_SOURCE_BYTES: Final = 4 * 1024 * 1024
_MODULES: Final = ("parlour_sdk", "parlour_sdk.decorators", "parlour_sdk.components")
_Function: TypeAlias = ast.AsyncFunctionDef | ast.FunctionDef


@dataclass(frozen=True, slots=True)
class DeclaredCall:
    """A `plugin(...)` call or a decorator: its arguments and their line numbers, by name."""

    name: str
    arguments: dict[str, Any]
    lines: dict[str, int]
    location: SourceLocation


@dataclass(frozen=True, slots=True)
class DecoratedFunction:
    name: str
    location: SourceLocation
    calls: tuple[DeclaredCall, ...]
    parameters: tuple[str, ...]
    docstring: str


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """The plugin call and the decorated functions of a file."""

    file: Path
    plugin: DeclaredCall | None
    functions: tuple[DecoratedFunction, ...]


def scan_file(file: Path) -> ScannedFile:
    tree = _parsed(file)
    reader = _Scanner(file, dict(_imported(tree)))
    plugins = [call for statement in tree.body for call in reader.plugin_calls(statement)]
    if len(plugins) > 1:
        raise errors.duplicate_declaration(plugins[1].location, plugins[0].location)
    functions = tuple(function for statement in tree.body for function in reader.decorated(statement))
    return ScannedFile(file, plugins[0] if plugins else None, functions)


def _parsed(file: Path) -> ast.Module:
    try:
        with file.open("rb") as source:
            content = source.read(MAX_SOURCE_BYTES + 1)
    except OSError as error:
        raise errors.unreadable(file, error) from error
    if len(content) > MAX_SOURCE_BYTES:
        raise errors.too_large(file, MAX_SOURCE_BYTES)
    try:
        return ast.parse(content, str(file))
    except SyntaxError as error:
        raise errors.not_python(SourceLocation(file, error.lineno), error.msg) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise errors.not_python(SourceLocation(file), str(error) or "it is nested too deeply") from error


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yields the local names of the decorators: `tool`, or `sdk.tool` after `import parlour_sdk as sdk`."""
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module in _MODULES and statement.level == 0:
            yield from ((each.asname or each.name, each.name) for each in statement.names if each.name in SIGNATURES)
        elif isinstance(statement, ast.Import):
            packages = (each.asname or each.name for each in statement.names if each.name == "parlour_sdk")
            yield from ((f"{package}.{name}", name) for package in packages for name in SIGNATURES)


class _Scanner:
    def __init__(self, file: Path, names: dict[str, str]) -> None:
        self._file = file
        self._names = names

    def plugin_calls(self, statement: ast.stmt) -> Iterator[DeclaredCall]:
        if isinstance(statement, ast.Expr) and self._name(statement.value) == "plugin":
            yield self._call(statement.value)

    def decorated(self, statement: ast.stmt) -> Iterator[DecoratedFunction]:
        if isinstance(statement, ast.ClassDef):
            self._refuse_in_class(statement)
        elif isinstance(statement, _Function):
            calls = tuple(self._call(each) for each in statement.decorator_list if self._name(each))
            if calls:
                location = SourceLocation(self._file, statement.lineno)
                every = (*statement.args.posonlyargs, *statement.args.args, *statement.args.kwonlyargs)
                parameters = tuple(each.arg for each in every)
                yield DecoratedFunction(statement.name, location, calls, parameters, ast.get_docstring(statement) or "")

    def _refuse_in_class(self, statement: ast.ClassDef) -> None:
        """Rejects decorators on classes and methods: classes have component files, and only `@on` may be inside."""
        nested = (
            each for function in statement.body if isinstance(function, _Function) for each in function.decorator_list
        )
        for each in (*statement.decorator_list, *(each for each in nested if self._name(each) != "on")):
            if name := self._name(each):
                raise errors.not_a_function(SourceLocation(self._file, each.lineno), name)

    def _name(self, node: ast.expr) -> str | None:
        callee = node.func if isinstance(node, ast.Call) else node
        return self._names.get(ast.unparse(callee)) if isinstance(callee, ast.Name | ast.Attribute) else None

    def _call(self, node: ast.expr) -> DeclaredCall:
        name, location = self._name(node) or "", SourceLocation(self._file, node.lineno)
        if not isinstance(node, ast.Call):
            return DeclaredCall(name, {}, {}, location)
        literals = dict(self._named_arguments(name, node))
        arguments = {argument: self._literal(name, argument, value) for argument, value in literals.items()}
        _require_arguments(name, arguments, location)
        return DeclaredCall(name, arguments, {argument: value.lineno for argument, value in literals.items()}, location)

    def _named_arguments(self, name: str, node: ast.Call) -> Iterator[tuple[str, ast.expr]]:
        allowed = [each.name for each in _parameters(name) if each.kind is not inspect.Parameter.KEYWORD_ONLY]
        for position, value in enumerate(node.args):
            if position >= len(allowed):
                raise errors.wrong_arguments(
                    SourceLocation(self._file, value.lineno), name, "name the arguments: name=..., label=..."
                )
            yield allowed[position], value
        for keyword in node.keywords:
            yield keyword.arg or "**", keyword.value

    def _literal(self, name: str, argument: str, value: ast.expr) -> Any:
        try:
            return ast.literal_eval(value)
        except (ValueError, TypeError, RecursionError):
            raise errors.not_literal(SourceLocation(self._file, value.lineno), name, argument) from None


def _parameters(name: str) -> list[inspect.Parameter]:
    every = inspect.signature(SIGNATURES[name]).parameters.values()
    return [each for each in every if each.kind is not inspect.Parameter.POSITIONAL_ONLY]


def _require_arguments(name: str, arguments: dict[str, Any], location: SourceLocation) -> None:
    parameters = {each.name: each for each in _parameters(name)}
    for argument in arguments:
        if argument not in parameters:
            hint = errors.suggestion(argument, parameters)
            raise errors.wrong_arguments(location, name, f"there is no argument '{argument}'{hint}")
    for argument, parameter in parameters.items():
        if parameter.default is inspect.Parameter.empty and argument not in arguments:
            raise errors.wrong_arguments(location, name, f"{argument} is missing")
