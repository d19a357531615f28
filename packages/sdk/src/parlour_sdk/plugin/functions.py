"""Builds components from the decorated functions of a file."""

import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

from parlour_sdk.components.event_listener import subscriptions
from parlour_sdk.components.function_tool import FunctionTool, UnsupportedSignature
from parlour_sdk.components.functions import FunctionCommand, FunctionListener, FunctionRunner
from parlour_sdk.decorators import KIND_ATTRIBUTE

from . import errors
from .errors import SourceLocation
from .manifest_files import ComponentDefinition
from .modules import locate
from .signature_checks import require_coroutine, require_coroutine_or_generator, require_generator


def build_function_component(component: ComponentDefinition, function: Any) -> Any:
    name, location = component.name, component.location
    if not inspect.isfunction(function):
        raise errors.not_a_function(location, _decorator(function) or "...")
    match component.manifest.kind:
        case "AgentRunner":
            require_generator(function, function.__name__, "ctx, api", location)
            return FunctionRunner(function)
        case "Command":
            require_coroutine_or_generator(function, function.__name__, "ctx", location)
            return FunctionCommand(function)
        case "EventListener":
            require_coroutine(function, function.__name__, "event, ctx", location)
            return FunctionListener(name, function)
        case _:
            return _tool(function, location)


def _tool(function: Any, location: SourceLocation) -> Any:
    if not inspect.iscoroutinefunction(function):
        raise errors.not_async(location, function.__name__, "a coroutine: `async def` without `yield`")
    try:
        return FunctionTool(function)
    except UnsupportedSignature as error:
        raise errors.unsupported_signature(location, function.__name__, str(error)) from error


def reject_hidden_decorators(module: ModuleType, declared: list[ComponentDefinition]) -> None:
    """Rejects functions that are decorated at run time but were not found in the file's source.

    Components must be known before the code runs, so every decorator must be visible in the source.
    """
    declared_names = {each.manifest.execution.python.attr for each in declared if each.manifest.execution.python}
    for name, member in vars(module).items():
        decorator = _decorator(member) if inspect.isfunction(member) else None
        if decorator is not None and name not in declared_names:
            raise errors.hidden_declaration(
                locate(member, SourceLocation(Path(module.__file__ or module.__name__))), decorator, name
            )


def _decorator(member: Any) -> str | None:
    return "on" if subscriptions(member) else getattr(member, KIND_ATTRIBUTE, None)
