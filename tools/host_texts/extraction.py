"""Extracts text templates from Python source: string constants, f-strings and their concatenations."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOST = ROOT / "packages" / "host" / "src"
SDK = ROOT / "packages" / "sdk" / "src"

_WORD = re.compile(r"[A-Za-z][a-z']+|\bI\b")
_NAMED = re.compile(r"\{[a-z_]+\}")
_STATEMENT = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|DROP|ALTER|PRAGMA|BEGIN|COPY|LOCK|SET)\b")
_IGNORED_CALLS = frozenset(("TypeVar", "cast", "print", "split", "compile", "add_argument", "encode"))
_IGNORED_KEYWORDS = frozenset(("description", "examples", "title", "summary", "help", "alias", "usage", "metavar"))
"""Arguments that describe the HTTP interface in its English document."""
_LOGGING = ("logger.", "logging.", "log.", "BackgroundTasks", "retry_on_storage_failure")


def sentences(source: str) -> list[str]:
    """Returns the templates of a module in the order of the source; values are `{}`, or `{name}` if they have one."""
    return list(_visit(ast.parse(source)))


def _visit(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Assert() | ast.Compare() | ast.Subscript():
            return  # documentation, checks and search terms
        case ast.AnnAssign(value=value):
            if value is not None:
                yield from _visit(value)
            return
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            for part in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
                yield from _visit(part)
            return
        case ast.Call():
            yield from _visit_call(node)
            return
        case ast.Constant() | ast.JoinedStr() | ast.BinOp(op=ast.Add()):
            template = _template(node)
            if template is not None:
                if _is_sentence(template):
                    yield template
                for inner in _values(node):
                    yield from _visit(inner)
                return
    for child in ast.iter_child_nodes(node):
        yield from _visit(child)


def _visit_call(node: ast.Call) -> Iterator[str]:
    callee = ast.unparse(node.func)
    if callee.startswith(_LOGGING):
        return
    if callee.rpartition(".")[2] in _IGNORED_CALLS:
        return
    yield from _visit(node.func)
    for argument in node.args:
        yield from _visit(argument)
    for keyword in node.keywords:
        if keyword.arg not in _IGNORED_KEYWORDS:
            yield from _visit(keyword.value)


def _template(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(value=str() as text):
            return text if _NAMED.search(text) else _escaped(text)
        case ast.JoinedStr():
            return "".join(_escaped(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            left_text, right_text = _template(left), _template(right)
            return None if left_text is None and right_text is None else (left_text or "{}") + (right_text or "{}")
    return None


def _escaped(text: object) -> str:
    return str(text).replace("{", "{{").replace("}", "}}")


def _values(node: ast.expr) -> Iterator[ast.expr]:
    """Yields the expressions inside a template, which may contain texts themselves."""
    match node:
        case ast.JoinedStr():
            yield from (part.value for part in node.values if isinstance(part, ast.FormattedValue))
        case ast.BinOp(left=left, right=right):
            for operand in (left, right):
                yield from (operand,) if _template(operand) is None else _values(operand)


def _is_sentence(template: str) -> bool:
    text = re.sub(r"\{\w*\}", " ", template)
    return " " in template.strip() and len(_WORD.findall(text)) >= 2 and not _STATEMENT.match(template)
