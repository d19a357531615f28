"""Declares a plugin and its components in one Python file.

    plugin("acme/hello", version="0.1.0")

    @runner(capabilities=["streaming"])
    async def hello(ctx, api): ...

The arguments must be literals: they are read without running the file (`parlour_sdk.plugin.declarations`). At run time
a decorator only marks its function, which stays callable as it is.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar, overload

from parlour_sdk.components.event_listener import on

__all__ = ["command", "on", "plugin", "runner", "tool"]

KIND_ATTRIBUTE = "__parlour_kind__"
Text: TypeAlias = str | Mapping[str, str]
"""One text, or one per language: `{"en_US": "Hello", "zh_Hans": "你好"}`."""
Runner = TypeVar("Runner", bound=Callable[..., AsyncGenerator[Any, None]])
Tool = TypeVar("Tool", bound=Callable[..., Awaitable[Any]])
Command = TypeVar("Command", bound=Callable[..., AsyncGenerator[Any, None] | Awaitable[Any]])
Function = TypeVar("Function", bound=Callable[..., Any])


def plugin(
    identity: str,
    *,
    version: str,
    label: Text | None = None,
    description: Text | None = None,
    permissions: Mapping[str, Sequence[str]] | None = None,
    limits: Mapping[str, int] | None = None,
    config: Sequence[Mapping[str, Any]] = (),
    requirements: Sequence[str] = (),
) -> None:
    """Declares the plugin's identity, `author/name`, and what its components may use outside a run. Once per file."""


@overload
def runner(function: Runner, /) -> Runner: ...
@overload
def runner(
    *,
    name: str = "default",
    label: Text | None = None,
    description: Text | None = None,
    capabilities: Sequence[str] | Mapping[str, bool] = (),
    permissions: Mapping[str, Sequence[str]] | None = None,
    context: Mapping[str, Any] | None = None,
    config: Sequence[Mapping[str, Any]] = (),
) -> Callable[[Runner], Runner]: ...
def runner(
    function: Any = None,
    /,
    *,
    name: str = "default",
    label: Text | None = None,
    description: Text | None = None,
    capabilities: Sequence[str] | Mapping[str, bool] = (),
    permissions: Mapping[str, Sequence[str]] | None = None,
    context: Mapping[str, Any] | None = None,
    config: Sequence[Mapping[str, Any]] = (),
) -> Any:
    """Makes a runner of an async generator `(ctx, api)`; `config` is the form of its configuration."""
    return _marker("runner", function)


@overload
def tool(function: Tool, /) -> Tool: ...
@overload
def tool(
    *, name: str | None = None, label: Text | None = None, description: Text | None = None, read_only: bool = False
) -> Callable[[Tool], Tool]: ...
def tool(
    function: Any = None,
    /,
    *,
    name: str | None = None,
    label: Text | None = None,
    description: Text | None = None,
    read_only: bool = False,
) -> Any:
    """Makes a tool of an `async def`: its parameters and its docstring are what a model sees.

    A parameter that is named `ctx` receives the ToolContext and is hidden from the model.
    """
    return _marker("tool", function)


def command(
    name: str,
    *,
    label: Text | None = None,
    description: Text | None = None,
    usage: str | None = None,
    aliases: Sequence[str] = (),
) -> Callable[[Command], Command]:
    """Makes a command of an `async def (ctx)` that returns its answer or yields several."""
    marker: Callable[[Command], Command] = _marker("command", None)
    return marker


def _marker(kind: str, function: Function | None) -> Any:
    def mark(function: Function) -> Function:
        setattr(function, KIND_ATTRIBUTE, kind)
        return function

    return mark if function is None else mark(function)
