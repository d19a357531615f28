"""An occasional refusal is answered at once; frequent refusals of one plugin are delayed."""

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


async def time_refusal(calls: ActionDispatcher, name: str) -> float:
    """Makes a call that is refused and returns how many seconds that took."""
    started_at = now()
    answer = calls.dispatch(name, {})
    with pytest.raises(WireError, match="not for you"):
        await (anext(answer) if isinstance(answer, AsyncGenerator) else answer)
    return now() - started_at


@pytest.mark.parametrize("name", ["call", "stream"])
async def test_refusals_beyond_the_burst_are_delayed_until_a_pause(name: str) -> None:
    calls = ActionDispatcher("test/fake", NothingAllowed())

    at_once = [await time_refusal(calls, name) for _ in range(REFUSAL_BURST)]
    late = await asyncio.gather(*(time_refusal(calls, name) for _ in range(5)))
    await asyncio.sleep(2 / REFUSALS_PER_SECOND)

    assert set(at_once) == {0}
    assert late == [REFUSAL_DELAY_SECONDS] * 5
    assert await time_refusal(calls, name) == 0
