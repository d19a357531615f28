"""Lets actions of plugins wait while this Host can't be sure that it still owns their parts."""

from collections.abc import AsyncGenerator, Awaitable, Mapping
from contextlib import aclosing
from typing import Any

from pydantic import BaseModel

from parlour.core.cluster.ownership import Ownership, PartLost
from parlour.core.errors import CallRejected
from parlour.core.runs.caller import ActionCaller
from parlour_sdk.protocol.host_actions import HOST_ACTIONS

from .handlers import Handler


def with_effect_gate(handlers: Mapping[str, Handler], ownership: Ownership) -> Mapping[str, Handler]:
    """Returns handlers that pass the gate of effects first. A sole owner has none, so its handlers are unchanged."""
    if ownership.is_sole:
        return handlers
    return {
        name: _gated_stream(handler, ownership) if HOST_ACTIONS[name].streams else _gated_call(handler, ownership)
        for name, handler in handlers.items()
    }


def _gated_call(handler: Any, ownership: Ownership) -> Handler:
    async def call(caller: ActionCaller, request: Any) -> BaseModel:
        await _pass(ownership.effect_gate())
        answer: BaseModel = await handler(caller, request)
        return answer

    return call


def _gated_stream(handler: Any, ownership: Ownership) -> Handler:
    async def stream(caller: ActionCaller, request: Any) -> AsyncGenerator[Any, None]:
        await _pass(ownership.effect_gate())
        async with aclosing(handler(caller, request)) as parts:
            async for part in parts:
                yield part

    return stream


async def _pass(gate: Awaitable[None] | None) -> None:
    try:
        if gate is not None:
            await gate
    except PartLost as lost:
        message = "this Host no longer owns the run's conversation; another Host continues it"
        raise CallRejected("runtime_error", message, retryable=True) from lost
