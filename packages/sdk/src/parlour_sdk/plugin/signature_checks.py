"""Checks that a component's functions have the signatures with which they will be called."""

import inspect
from collections.abc import Callable
from typing import Any, Final

from . import errors
from .errors import SourceLocation
from .modules import locate

METHODS: Final = {
    "Tool": {"call": "parameters, ctx"},
    "KnowledgeEngine": {
        "ingest": "kb_id, file, ctx",
        "retrieve": "kb_id, query, top_k, filters, ctx",
        "delete": "kb_id, file_id, ctx",
    },
    "Parser": {"parse": "file, config"},
    "Page": {"call": "action, data, ctx"},
}


def require_signatures(kind: str, instance: Any, location: SourceLocation) -> None:
    """Checks the methods of an instance of the plugin author's class."""
    name = type(instance).__name__
    match kind:
        case "AgentRunner":
            require_generator(instance.run, f"{name}.run", "ctx, api", location)
        case "Command":
            require_coroutine_or_generator(instance.run, f"{name}.run", "ctx", location)
        case "EventListener":
            require_handlers(instance, name, location)
        case _:
            for method, expected in METHODS[kind].items():
                require_coroutine(getattr(instance, method), f"{name}.{method}", expected, location)


def require_handlers(listener: Any, name: str, location: SourceLocation) -> None:
    from parlour_sdk.components.event_listener import subscriptions

    from .event_checks import require_event

    handlers = listener._handlers()
    if not handlers:
        raise errors.no_handlers(location, name)
    for attribute, function in handlers.items():
        full_name = f"{name}.{attribute}"
        require_coroutine(function, full_name, "event, ctx", location)
        for subscription in subscriptions(function):
            require_event(locate(function, location), full_name, subscription.pattern)


def require_generator(function: Callable[..., Any], name: str, expected: str, location: SourceLocation) -> None:
    if not inspect.isasyncgenfunction(function):
        raise errors.not_async(locate(function, location), name, "an async generator: `async def` with `yield`")
    _require_parameters(function, name, expected, location)


def require_coroutine(function: Callable[..., Any], name: str, expected: str, location: SourceLocation) -> None:
    if not inspect.iscoroutinefunction(function):
        raise errors.not_async(locate(function, location), name, "a coroutine: `async def` without `yield`")
    _require_parameters(function, name, expected, location)


def require_coroutine_or_generator(
    function: Callable[..., Any], name: str, expected: str, location: SourceLocation
) -> None:
    if not (inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)):
        raise errors.not_async(locate(function, location), name, "`async def`, with `return` or `yield`")
    _require_parameters(function, name, expected, location)


def _require_parameters(function: Callable[..., Any], name: str, expected: str, location: SourceLocation) -> None:
    try:
        inspect.signature(function).bind(*expected.split(", "))
    except TypeError:
        raise errors.wrong_parameters(locate(function, location), name, expected) from None
