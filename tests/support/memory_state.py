"""Walks the objects that a Host consists of and lists their mutable containers."""

import gc
import types
from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

from pydantic import BaseModel

CONTAINERS = (dict, list, set, deque, bytearray, WeakKeyDictionary, WeakValueDictionary, WeakSet)
PACKAGE = "parlour"


def mutable_containers(*roots: object) -> dict[str, str]:
    """Returns `module.Class.attribute` of each mutable container that the roots reach, with the container's type."""
    found: dict[str, str] = {}
    seen: set[int] = set()
    waiting: list[object] = list(roots)
    while waiting:
        current = waiting.pop()
        if id(current) in seen or isinstance(current, (str, bytes, int, float, type, types.ModuleType)):
            continue
        seen.add(id(current))
        for name, owner, value in _attributes(current):
            if isinstance(value, CONTAINERS) and not issubclass(owner, BaseModel):  # settings and requests are values
                place = f"{owner.__module__}.{owner.__qualname__}.{name}"
                found[place.removeprefix(f"{PACKAGE}.")] = type(value).__name__
            waiting.append(value)
        waiting.extend(_referred(current))
    return found


def _attributes(current: object) -> Iterator[tuple[str, type, Any]]:
    """Yields the attributes of an object of the Host, each with the class that it is declared in."""
    if not _is_ours(type(current)):
        return
    names = {**dict.fromkeys(vars(current) if hasattr(current, "__dict__") else ()), **dict.fromkeys(_slots(current))}
    for name in names:
        try:
            yield name, type(current), getattr(current, name)
        except AttributeError:
            continue


def _slots(current: object) -> list[str]:
    slots = [getattr(kind, "__slots__", ()) for kind in type(current).__mro__]
    return [name for each in slots for name in ((each,) if isinstance(each, str) else each) if name != "__weakref__"]


def _is_ours(kind: type) -> bool:
    return kind.__module__.split(".")[0] == PACKAGE


def _referred(current: object) -> Iterator[object]:
    """Yields the objects behind containers, bound methods, partial functions and closures."""
    match current:
        case dict():
            yield from current.keys()
            yield from current.values()
        case list() | tuple() | set() | frozenset() | deque():
            yield from current
        case types.MethodType():
            yield current.__self__
        case partial():
            yield from (current.func, *current.args, *current.keywords.values())
        case types.FunctionType():
            for cell in current.__closure__ or ():
                try:
                    yield cell.cell_contents
                except ValueError:
                    continue
        case WeakKeyDictionary() | WeakValueDictionary() | WeakSet():
            yield from gc.get_referents(current)
