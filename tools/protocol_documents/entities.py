"""Finds the entities of the protocol, and the documentation of each field in their source."""

import ast
import importlib
import inspect
import pkgutil
from itertools import pairwise
from types import ModuleType

from pydantic import BaseModel

from parlour_sdk import protocol
from parlour_sdk.protocol import base, calls, chain, platform_api, platform_events, results

SHARED = {
    base.Tolerant,
    base.Request,
    base.Strict,
    results.Telemetry,
    calls.Call,
    calls.RunCall,
    chain.Media,
    platform_events.PlatformEvent,
    platform_events.ChatEvent,
    platform_events.GroupEvent,
    platform_events.HostEvent,
    platform_api.PlatformCall,
    platform_api.MessageCall,
    platform_api.GroupCall,
    platform_api.MemberCall,
}
"""Base classes of entities; none of these is sent itself."""


def modules() -> list[ModuleType]:
    module_infos = pkgutil.iter_modules(protocol.__path__, f"{protocol.__name__}.")
    return [importlib.import_module(each.name) for each in module_infos]


def entities(module: ModuleType) -> list[type[BaseModel]]:
    """Returns the entities that the module defines, in source order."""
    models = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, BaseModel)]
    return [each for each in models if each.__module__ == module.__name__ and each not in SHARED]


def summary(documented: object) -> str:
    """Returns a docstring as one paragraph."""
    return " ".join((inspect.getdoc(documented) or "").split())


def field_notes(entity: type[BaseModel]) -> dict[str, str]:
    """Returns the strings below the fields, including those of base classes."""
    notes: dict[str, str] = {}
    for part in reversed(entity.__mro__):
        if part.__module__.startswith(protocol.__name__):
            notes |= notes_below(ast.parse(inspect.getsource(part)).body[0])
    return {name: note for name, note in notes.items() if name in entity.model_fields}


def notes_below(node: ast.AST) -> dict[str, str]:
    """Returns the strings that follow assignments of a class or a module, by the assigned name."""
    body = getattr(node, "body", [])
    notes: dict[str, str] = {}
    for assignment, next_statement in pairwise(body):
        target = getattr(assignment, "target", None) or next(iter(getattr(assignment, "targets", [])), None)
        if isinstance(target, ast.Name) and isinstance(next_statement, ast.Expr):
            notes[target.id] = " ".join(ast.literal_eval(next_statement.value).split())
    return notes


def module_notes(module: ModuleType) -> dict[str, str]:
    return notes_below(ast.parse(inspect.getsource(module)))
