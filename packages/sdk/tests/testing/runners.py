"""Makes runners for tests from functions of context and API."""

from collections.abc import AsyncGenerator, Callable
from typing import Any

from parlour_sdk.components import AgentRunner
from parlour_sdk.results import Result

Body = Callable[[Any, Any], AsyncGenerator[Result, None]]


class _Runner(AgentRunner):
    def __init__(self, body: Body) -> None:
        self._body = body

    async def run(self, ctx: Any, api: Any) -> AsyncGenerator[Result, None]:
        async for result in self._body(ctx, api):
            yield result


def runner(body: Body) -> AgentRunner:
    return _Runner(body)


def yielding(*results: Result) -> AgentRunner:
    """Returns a runner that yields these results."""

    async def body(ctx: Any, api: Any) -> AsyncGenerator[Result, None]:
        for result in results:
            yield result

    return _Runner(body)
