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
}


def require_signatures(kind: str, instance: Any, place: SourceLocation) -> None:
    """Checks the methods of an instance of the plugin author's class."""
    name = type(instance).__name__
    match kind:
        case "AgentRunner":
            require_generator(instance.run, f"{name}.run", "ctx, api", place)
        case "Command":
            require_coroutine_or_generator(instance.run, f"{name}.run", "ctx", place)
        case "EventListener":
            require_handlers(instance, name, place)
        case _:
            for method, wanted in METHODS[kind].items():
                require_coroutine(getattr(instance, method), f"{name}.{method}", wanted, place)


def require_handlers(listener: Any, name: str, place: SourceLocation) -> None:
    from parlour_sdk.components.event_listener import subscriptions

    from .event_checks import require_event

    handlers = listener._handlers()
    if not handlers:
        raise errors.no_handlers(place, name)
    for attribute, function in handlers.items():
        shown = f"{name}.{attribute}"
        require_coroutine(function, shown, "event, ctx", place)
        for asked in subscriptions(function):
            require_event(locate(function, place), shown, asked.pattern)


def require_generator(function: Callable[..., Any], name: str, wanted: str, place: SourceLocation) -> None:
    if not inspect.isasyncgenfunction(function):
        raise errors.not_async(locate(function, place), name, "an async generator: `async def` with `yield`")
    _require_parameters(function, name, wanted, place)


def require_coroutine(function: Callable[..., Any], name: str, wanted: str, place: SourceLocation) -> None:
    if not inspect.iscoroutinefunction(function):
        raise errors.not_async(locate(function, place), name, "a coroutine: `async def` without `yield`")
    _require_parameters(function, name, wanted, place)


def require_coroutine_or_generator(function: Callable[..., Any], name: str, wanted: str, place: SourceLocation) -> None:
    if not (inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)):
        raise errors.not_async(locate(function, place), name, "`async def`, with `return` or `yield`")
    _require_parameters(function, name, wanted, place)


def _require_parameters(function: Callable[..., Any], name: str, wanted: str, place: SourceLocation) -> None:
    try:
        inspect.signature(function).bind(*wanted.split(", "))
    except TypeError:
        raise errors.wrong_parameters(locate(function, place), name, wanted) from None
