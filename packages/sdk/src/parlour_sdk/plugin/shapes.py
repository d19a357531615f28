"""Checks that a component's functions have the signatures with which they will be called."""

import inspect
from collections.abc import Callable
from typing import Any, Final

from . import problems
from .modules import place_of
from .problems import Place

METHODS: Final = {
    "Tool": {"call": "parameters, ctx"},
    "KnowledgeEngine": {
        "ingest": "kb_id, file, ctx",
        "retrieve": "kb_id, query, top_k, filters, ctx",
        "delete": "kb_id, file_id, ctx",
    },
    "Parser": {"parse": "file, config"},
}


def require_shape(kind: str, instance: Any, place: Place) -> None:
    """Checks the methods of an instance of the plugin author's class."""
    name = type(instance).__name__
    match kind:
        case "AgentRunner":
            require_generator(instance.run, f"{name}.run", "ctx, api", place)
        case "Command":
            require_either(instance.run, f"{name}.run", "ctx", place)
        case "EventListener":
            require_handlers(instance, name, place)
        case _:
            for method, wanted in METHODS[kind].items():
                require_coroutine(getattr(instance, method), f"{name}.{method}", wanted, place)


def require_handlers(listener: Any, name: str, place: Place) -> None:
    from parlour_sdk.components.event_listener import subscriptions

    from .event_names import require_event

    handlers = listener._handlers()
    if not handlers:
        raise problems.no_handlers(place, name)
    for attribute, function in handlers.items():
        shown = f"{name}.{attribute}"
        require_coroutine(function, shown, "event, ctx", place)
        for asked in subscriptions(function):
            require_event(place_of(function, place), shown, asked.pattern)


def require_generator(function: Callable[..., Any], name: str, wanted: str, place: Place) -> None:
    if not inspect.isasyncgenfunction(function):
        raise problems.not_async(place_of(function, place), name, "an async generator: `async def` with `yield`")
    _require_parameters(function, name, wanted, place)


def require_coroutine(function: Callable[..., Any], name: str, wanted: str, place: Place) -> None:
    if not inspect.iscoroutinefunction(function):
        raise problems.not_async(place_of(function, place), name, "a coroutine: `async def` without `yield`")
    _require_parameters(function, name, wanted, place)


def require_either(function: Callable[..., Any], name: str, wanted: str, place: Place) -> None:
    if not (inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)):
        raise problems.not_async(place_of(function, place), name, "`async def`, with `return` or `yield`")
    _require_parameters(function, name, wanted, place)


def _require_parameters(function: Callable[..., Any], name: str, wanted: str, place: Place) -> None:
    try:
        inspect.signature(function).bind(*wanted.split(", "))
    except TypeError:
        raise problems.wrong_parameters(place_of(function, place), name, wanted) from None
