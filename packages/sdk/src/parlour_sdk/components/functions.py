"""Wraps decorated functions as components."""

from collections.abc import AsyncGenerator, Awaitable, Callable

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.results import Result

from .agent_runner import AgentRunner
from .command import Answer, Command, CommandContext
from .event_listener import EventListener, HandlerFunction


class FunctionRunner(AgentRunner):
    def __init__(self, function: Callable[[AgentRunContext, AgentRunAPI], AsyncGenerator[Result, None]]) -> None:
        self._function = function

    def run(self, ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
        return self._function(ctx, api)


class FunctionCommand(Command):
    def __init__(
        self, function: Callable[[CommandContext], AsyncGenerator[Answer, None] | Awaitable[Answer | None]]
    ) -> None:
        self._function = function

    def run(self, ctx: CommandContext) -> AsyncGenerator[Answer, None] | Awaitable[Answer | None]:
        return self._function(ctx)


class FunctionListener(EventListener):
    def __init__(self, name: str, function: HandlerFunction) -> None:
        self._own = {name: function}

    def _handlers(self) -> dict[str, HandlerFunction]:
        return self._own
