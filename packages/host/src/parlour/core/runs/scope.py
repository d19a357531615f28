"""Waits for the work of an action only as long as the calling run is active."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

from parlour.core.errors import CallRejected

from .session import RunSession

Given = TypeVar("Given")


async def await_in_run(session: RunSession | None, work: Coroutine[Any, Any, Given]) -> Given:
    """Awaits the work and cancels it when the run ends. Outside a run there is no such limit."""
    if session is None:
        return await work
    task, end_task = asyncio.ensure_future(work), asyncio.ensure_future(session.ended.wait())
    try:
        await asyncio.wait({task, end_task}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise _run_ended_error(session)
    finally:
        end_task.cancel()
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


async def stream_in_run(session: RunSession | None, stream: AsyncGenerator[Given, None]) -> AsyncGenerator[Given, None]:
    """Streams the parts of an answer until the run ends; the source is closed when the reader stops."""
    async with aclosing(stream):
        while (part := await await_in_run(session, _next(stream))) is not None:
            yield part


async def _next(stream: AsyncGenerator[Given, None]) -> Given | None:
    return await anext(stream, None)


def _run_ended_error(session: RunSession) -> CallRejected:
    status = session.stopping.status if session.stopping is not None else ""
    match status:
        case "cancelled":
            return CallRejected("cancelled", "the run was cancelled")
        case "timeout":
            return CallRejected("deadline_exceeded", "the run's time is over")
        case _:
            return CallRejected("unauthorized", "no active run has this id")
