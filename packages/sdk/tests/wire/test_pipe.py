"""Tests that file descriptors are closed exactly once, with asyncio and with uvloop."""

import asyncio
import os
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop

from parlour_sdk.wire import StdioTransport
from parlour_sdk.wire.pipe import Pipe

LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


Run = Callable[[Callable[[], Coroutine[Any, Any, None]]], None]


@pytest.fixture(params=LOOPS.values(), ids=LOOPS)
def runner(request: pytest.FixtureRequest) -> Run:
    def run(scenario: Callable[[], Coroutine[Any, Any, None]]) -> None:
        with asyncio.Runner(loop_factory=request.param) as runner:
            runner.run(scenario())

    return run


def is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


async def is_gone(descriptor: int) -> bool:
    """Waits until the loop has closed the descriptor, which takes a few iterations."""
    for _ in range(1000):
        if not is_open(descriptor):
            return True
        await asyncio.sleep(0)
    return False


def test_a_pipe_of_a_loop_is_closed_with_its_transport(runner: Run) -> None:
    async def scenario() -> None:
        read_fd, write_fd = os.pipe()
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(asyncio.Protocol, Pipe(read_fd, loop))
        transport.close()
        assert await is_gone(read_fd)
        os.close(write_fd)

    runner(scenario)


def test_closing_a_closed_pipe_does_not_close_a_reused_descriptor() -> None:
    """This does what uvloop does: it closes the descriptor and then the file."""

    async def scenario() -> None:
        read_fd, write_fd = os.pipe()
        pipe = Pipe(read_fd, asyncio.get_running_loop())
        os.close(read_fd)
        reused = os.dup(write_fd)
        assert reused == read_fd
        pipe.close()
        assert is_open(reused)
        os.close(reused)
        os.close(write_fd)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(scenario())


def test_an_abandoned_pipe_is_closed_once(runner: Run) -> None:
    async def scenario() -> None:
        read_fd, write_fd = os.pipe()
        pipe = Pipe(read_fd, asyncio.get_running_loop())
        pipe.abandon()
        pipe.abandon()
        assert not is_open(read_fd)
        os.close(write_fd)

    runner(scenario)


def test_a_transport_leaves_no_descriptor_open(runner: Run) -> None:
    async def scenario() -> None:
        for started in (True, False):
            theirs, ours = os.pipe(), os.pipe()
            transport = StdioTransport(theirs[0], ours[1])
            if started:
                read = asyncio.Event()
                transport.start(lambda frame: read.set(), lambda error: None)  # noqa: B023 - it ends in this round
                os.write(theirs[1], b"{}\n")
                await read.wait()
            transport.close()
            assert await is_gone(theirs[0])
            assert await is_gone(ours[1])
            os.close(theirs[1])
            os.close(ours[0])

    runner(scenario)
