"""Waiting for what stands behind an action, for as long as the run goes on that asks for it."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

from parlour.core.errors import Refused

from .session import RunSession

Given = TypeVar("Given")


async def within(session: RunSession | None, asked: Coroutine[Any, Any, Given]) -> Given:
    """What was asked is let go when the run is over. Outside a run it takes what it takes."""
    if session is None:
        return await asked
    asking, over = asyncio.ensure_future(asked), asyncio.ensure_future(session.ended.wait())
    try:
        await asyncio.wait({asking, over}, return_when=asyncio.FIRST_COMPLETED)
        if asking.done():
            return asking.result()
        raise _over(session)
    finally:
        over.cancel()
        if not asking.done():
            asking.cancel()
            await asyncio.wait({asking})


async def parts_within(session: RunSession | None, stream: AsyncGenerator[Given, None]) -> AsyncGenerator[Given, None]:
    """The same for what comes in parts; it is closed at its source when nobody reads on."""
    async with aclosing(stream):
        while (part := await within(session, _next(stream))) is not None:
            yield part


async def _next(stream: AsyncGenerator[Given, None]) -> Given | None:
    return await anext(stream, None)


def _over(session: RunSession) -> Refused:
    status = session.stopping.status if session.stopping is not None else ""
    match status:
        case "cancelled":
            return Refused("cancelled", "the run was cancelled")
        case "timeout":
            return Refused("deadline_exceeded", "the run's time is over")
        case _:
            return Refused("unauthorized", "no active run has this id")
