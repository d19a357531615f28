"""A plugin that is refused now and then hears it at once; one that asks in vain all the time has to wait for it."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from parlour.core.errors import CallRejected
from parlour.plugin_runtime.supervision.connection import (
    REFUSAL_BURST,
    REFUSAL_DELAY_SECONDS,
    REFUSALS_PER_SECOND,
    ActionDispatcher,
)
from parlour_sdk.wire import WireError

from .fakes import now


class NothingAllowed:
    def streams(self, name: str) -> bool:
        return name == "stream"

    async def call(self, plugin_id: str, name: str, data: Any) -> dict[str, Any]:
        raise CallRejected("unauthorized", "not for you")

    async def stream(self, plugin_id: str, name: str, data: Any) -> AsyncGenerator[dict[str, Any], None]:
        raise CallRejected("unauthorized", "not for you")
        yield {}


async def ask(calls: ActionDispatcher, name: str) -> float:
    """When the refusal came, in seconds from now."""
    begun = now()
    answer = calls.dispatch(name, {})
    with pytest.raises(WireError, match="not for you"):
        await (anext(answer) if isinstance(answer, AsyncGenerator) else answer)
    return now() - begun


@pytest.mark.parametrize("name", ["call", "stream"])
async def test_who_is_refused_too_often_waits_for_it_and_after_a_rest_no_more(name: str) -> None:
    calls = ActionDispatcher("test/fake", NothingAllowed())

    at_once = [await ask(calls, name) for _ in range(REFUSAL_BURST)]
    late = await asyncio.gather(*(ask(calls, name) for _ in range(5)))
    await asyncio.sleep(2 / REFUSALS_PER_SECOND)

    assert set(at_once) == {0}
    assert late == [REFUSAL_DELAY_SECONDS] * 5
    assert await ask(calls, name) == 0
