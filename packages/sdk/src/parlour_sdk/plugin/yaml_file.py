"""Reads a YAML file and records the line of each key."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import yaml
from yaml.events import CollectionEndEvent, CollectionStartEvent
from yaml.nodes import MappingNode, Node, SequenceNode

from . import errors
from .errors import SourceLocation
from .source_map import Keys, SourceDocument, dotted

MAX_YAML_BYTES = 256 * 1024
MAX_DEPTH = 64
_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_BASE):  # type: ignore[misc]
    """Loads dates as texts, since JSON has no dates."""

    yaml_implicit_resolvers: ClassVar = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in _BASE.yaml_implicit_resolvers.items()
    }


def read_yaml(file: Path, warnings: list[str]) -> SourceDocument:
    text = _text(file)
    loader = _Loader(text)
    try:
        _refuse_deep(file, text)
        node = loader.get_single_node()
        data = None if node is None else loader.construct_document(node)
    except (yaml.YAMLError, ValueError) as error:
        raise errors.not_yaml(file, str(error)) from error
    finally:
        loader.dispose()
    source = SourceDocument(file, data, _lines(node), warnings=warnings)
    _refuse_repeated(source, node)
    return source


def _refuse_deep(file: Path, text: str) -> None:
    """Rejects deep nesting before nodes are built: the C library recurses, and deep nesting would crash the process."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise errors.too_deep(SourceLocation(file, event.start_mark.line + 1), MAX_DEPTH)


def _text(file: Path) -> str:
    try:
        with file.open("rb") as source:
            content = source.read(MAX_YAML_BYTES + 1)
    except OSError as error:
        raise errors.unreadable(file, error) from error
    if len(content) > MAX_YAML_BYTES:
        raise errors.too_large(file, MAX_YAML_BYTES)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise errors.not_yaml(file, str(error)) from error


def _lines(root: Node | None) -> Callable[[Keys], int | None]:
    def line(keys: Keys) -> int | None:
        """Returns the line of the key or, if it is missing, of its closest existing parent."""
        node, line_number = root, None
        for key in keys:
            step = _child(node, key)
            if step is None:
                break
            line_number, node = step
        return line_number

    return line


def _child(node: Node | None, key: str | int) -> tuple[int, Node] | None:
    if isinstance(node, MappingNode):
        for name, value in node.value:
            if name.value == str(key):
                return name.start_mark.line + 1, value
    elif isinstance(node, SequenceNode) and isinstance(key, int) and key < len(node.value):
        return node.value[key].start_mark.line + 1, node.value[key]
    return None


def _refuse_repeated(source: SourceDocument, root: Node | None) -> None:
    """Rejects duplicate keys, which would silently lose their first value."""
    pending: list[tuple[Keys, Node | None]] = [((), root)]
    looked_at: set[int] = set()  # an anchor may refer to a node that contains it
    while pending:
        keys, node = pending.pop()
        if not isinstance(node, MappingNode) or id(node) in looked_at:
            continue
        looked_at.add(id(node))
        keys_seen: set[str] = set()
        for name, value in node.value:
            if str(name.value) in keys_seen:
                raise errors.duplicate_key(
                    SourceLocation(source.file, name.start_mark.line + 1), dotted((*keys, name.value))
                )
            keys_seen.add(str(name.value))
            pending.append(((*keys, str(name.value)), value))
