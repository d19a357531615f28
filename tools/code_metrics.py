"""`python -m tools.code_metrics` measures the readability of the code, and fails if a figure exceeds its limit.

Limits are only lowered: a commit that improves a figure also lowers its limit here.
"""

import ast
import re
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

SOURCES = ("packages/host/src", "packages/sdk/src", "plugins")
LEFT_OUT = {"tests", "node_modules", "migrations", "__pycache__", "testing"}
FIELD_TERMS = {
    *("streaming", "routing", "steering", "logging", "encoding", "embedding", "chunking", "signing", "tracing"),
    *("pairing", "binding", "rendering", "scheduling", "string", "ping", "testing"),
}
FRAGMENT = re.compile(
    r"^(As|Until|With|Also|Of|By|In|Only|Once|When|What|Who|Whoever|Whether|How|So|For|Where|Without|Beyond|That|Under|"
    r"Since|Beside|Held|The same)\b"
)
PET_WORD = re.compile(
    r"\b(whoever|nobody|somebody|everybody|anybody|told|tells?|life|lives|anew|meanwhile|in vain|of late|for ever|"
    r"so long|so many|so often)\b",
    re.IGNORECASE,
)
MAX_PARAMETERS = 7
AT_MOST = {
    "longest_file": 400,
    "gerund_modules": 17,
    "fragment_percent": 3.0,
    "pet_word_percent": 0.9,
    "packages_in_cycle": 0,
    "repeated_class_names": 1,
    "wide_constructors": 2,
}
AT_LEAST = {"documented_percent": 59.5}

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Graph = Mapping[str, set[str]]


def source_files() -> list[Path]:
    files = [path for source in SOURCES for path in sorted(Path(source).rglob("*.py"))]
    return [path for path in files if not LEFT_OUT & set(path.parts)]


def figures() -> dict[str, float]:
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in source_files()}
    lengths = sorted(length for path in trees if (length := path.read_text(encoding="utf-8").count("\n")) > 3)
    docs = [text for tree in trees.values() for text in _docstrings(tree)]
    public = [node for tree in trees.values() for node in ast.walk(tree) if _is_public(node)]
    classes = Counter(node.name for node in public if isinstance(node, ast.ClassDef))
    return {
        "files": len(trees),
        "median_file": statistics.median(lengths),
        "longest_file": lengths[-1],
        "gerund_modules": sum(_is_gerund(path.stem) for path in trees),
        "fragment_percent": _percent(sum(bool(FRAGMENT.match(text)) for text in docs), len(docs)),
        "pet_word_percent": _percent(sum(bool(PET_WORD.search(text)) for text in docs), len(docs)),
        "packages_in_cycle": largest_cycle(_core_packages()),
        "repeated_class_names": sum(count > 1 for count in classes.values()),
        "wide_constructors": sum(_wide_constructors(tree) for path, tree in trees.items() if "app" not in path.parts),
        "documented_percent": _percent(sum(bool(ast.get_docstring(node)) for node in public), len(public)),
    }


def worse(measured: Mapping[str, float]) -> list[str]:
    too_high = [
        f"{name} is {measured[name]}, at most {limit}" for name, limit in AT_MOST.items() if measured[name] > limit
    ]
    too_low = [
        f"{name} is {measured[name]}, at least {limit}" for name, limit in AT_LEAST.items() if measured[name] < limit
    ]
    return too_high + too_low


def _percent(part: int, total: int) -> float:
    return round(100 * part / max(1, total), 1)


def _is_public(node: ast.AST) -> bool:
    return isinstance(node, Definition) and not node.name.startswith("_")


def _is_gerund(module: str) -> bool:
    last = module.split("_")[-1]
    return last.endswith("ing") and last not in FIELD_TERMS


def _docstrings(tree: ast.Module) -> Iterator[str]:
    """Yields docstrings, and the strings below attributes and constants that document them."""
    for node in ast.walk(tree):
        if isinstance(node, Definition | ast.Module):
            if text := ast.get_docstring(node):
                yield text
            values = (each.value for each in node.body[1:] if isinstance(each, ast.Expr))
            constants = (each.value for each in values if isinstance(each, ast.Constant))
            yield from (each for each in constants if isinstance(each, str))


def _wide_constructors(tree: ast.Module) -> int:
    constructors = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
    return sum(len(node.args.args) - 1 + len(node.args.kwonlyargs) > MAX_PARAMETERS for node in constructors)


def _core_packages() -> dict[str, set[str]]:
    """Returns which packages of the core import which; modules directly in the core count as one package."""
    base = Path("packages/host/src")
    modules: dict[str, Path] = {}
    for path in source_files():
        if path.is_relative_to(base / "parlour" / "core"):
            parts = path.relative_to(base).with_suffix("").parts
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    packages: dict[str, set[str]] = defaultdict(set)
    for module, path in modules.items():
        own_package = _package(module, modules)
        packages[own_package] |= {_package(each, modules) for each in _imports(module, path, modules)} - {own_package}
    return packages


def _package(module: str, modules: Mapping[str, Path]) -> str:
    parts = module.split(".")
    inside = len(parts) > 3 or (len(parts) == 3 and modules[module].name == "__init__.py")
    return ".".join(parts[:3]) if inside else "parlour.core"


def _imports(module: str, path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            parent_package = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*parent_package, *([node.module] if node.module else [])])
            for alias in node.names:
                name = f"{origin}.{alias.name}"
                if name in modules or origin in modules:
                    yield name if name in modules else origin


def largest_cycle(graph: Graph) -> int:
    """Returns the size of the largest group of packages that reach each other, or 0."""
    reach = {package: _reachable(graph, package) for package in graph}
    groups = (sum(other in reach[package] and package in reach.get(other, ()) for other in graph) for package in graph)
    return max(groups, default=0)


def _reachable(graph: Graph, start: str) -> set[str]:
    visited: set[str] = set()
    pending = list(graph.get(start, ()))
    while pending:
        package = pending.pop()
        if package not in visited:
            visited.add(package)
            pending.extend(graph.get(package, ()))
    return visited


if __name__ == "__main__":
    measured = figures()
    sys.stdout.write(" ".join(f"{name}={value:g}" for name, value in measured.items()) + "\n")
    for problem in (problems := worse(measured)):
        sys.stderr.write(f"code metrics: {problem}\n")
    sys.exit(bool(problems))
