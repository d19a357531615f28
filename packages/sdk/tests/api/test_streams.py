"""Tests streams of the Host: typed chunks, errors during the stream, and cancellation of abandoned streams."""

import asyncio
import gc
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest

from parlour_sdk.api import AgentRunAPI, InvalidCall
from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.wire import ConnectionClosed, Peer, WireError, memory_pair

from .recording import RecordingCaller


def chunk(text: str, **more: Any) -> dict[str, Any]:
    return {"chunk": {"role": "assistant", "content": text}, **more}


class Model:
    """Connects to a Host whose answer continues until it is stopped."""

    def __init__(self) -> None:
        self.stopped = asyncio.Event()

    def dispatch(self, action: str, data: Any) -> AsyncGenerator[Any, None]:
        return self._talk()

    async def _talk(self) -> AsyncGenerator[Any, None]:
        try:
            yield chunk("a")
            await asyncio.Event().wait()
        finally:
            self.stopped.set()


class Wire:
    def __init__(self) -> None:
        here, there = memory_pair()
        self.model = Model()
        self.peers = (Peer(here, self.model), Peer(there, self.model))
        for peer in self.peers:
            peer.start()

    async def stopped(self) -> bool:
        await asyncio.wait_for(self.model.stopped.wait(), 30)
        for peer in self.peers:
            await peer.aclose()
        return True


async def test_chunks_are_typed_and_in_order() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    host = RecordingCaller(invoke_llm_stream=[chunk("a"), chunk("b"), chunk("", usage=usage, finish_reason="stop")])
    chunks = [each async for each in AgentRunAPI(host, "run").models.stream("m", "hi")]
    assert "".join(str(each.chunk.content) for each in chunks) == "ab"
    assert chunks[-1].usage is not None
    assert (chunks[-1].usage.prompt_tokens, chunks[-1].finish_reason) == (3, "stop")
    assert host.streams[0].closed


@pytest.mark.parametrize(
    ("failure", "code", "retryable"),
    [
        (WireError("budget_exceeded", "no money left"), "budget_exceeded", False),
        (ConnectionClosed("gone"), "runtime_error", True),
    ],
)
async def test_an_error_during_a_stream_is_raised_after_the_received_chunks(
    failure: WireError, code: str, retryable: bool
) -> None:
    host = RecordingCaller(invoke_llm_stream=[chunk("a"), failure])
    stream = AgentRunAPI(host, "run").models.stream("m", "hi")
    assert (await anext(stream)).chunk.content == "a"
    with pytest.raises(AgentAPIException) as refusal:
        await anext(stream)
    assert (refusal.value.code, refusal.value.retryable) == (code, retryable)


async def test_a_connection_lost_before_the_stream_is_an_api_exception() -> None:
    host = RecordingCaller(invoke_llm_stream=ConnectionClosed("gone"))
    with pytest.raises(AgentAPIException):
        await anext(AgentRunAPI(host, "run").models.stream("m", "hi"))


async def test_an_invalid_part_ends_the_stream_with_a_runtime_error() -> None:
    host = RecordingCaller(invoke_llm_stream=[{"chunk": {"role": "nobody"}}])
    with pytest.raises(AgentAPIException, match="invoke_llm_stream can't be read"):
        await anext(AgentRunAPI(host, "run").models.stream("m", "hi"))
    assert host.streams[0].closed


async def test_an_invalid_argument_is_refused_when_the_stream_is_created() -> None:
    with pytest.raises(InvalidCall, match="messages"):
        AgentRunAPI(RecordingCaller(), "run").models.stream("m", [])


async def test_a_stream_that_is_closed_early_is_cancelled_at_the_host() -> None:
    wire = Wire()
    async with aclosing(AgentRunAPI(wire.peers[0], "run").models.stream("m", "hi")) as stream:
        async for _ in stream:
            break
    assert await wire.stopped()


async def test_a_stream_that_is_garbage_collected_is_cancelled_at_the_host() -> None:
    wire = Wire()
    async for _ in AgentRunAPI(wire.peers[0], "run").models.stream("m", "hi"):
        break
    gc.collect()
    assert await wire.stopped()


async def test_a_stream_ends_at_the_deadline_of_the_run() -> None:
    wire = Wire()
    stream = AgentRunAPI(wire.peers[0], "run", seconds_left=0.5).models.stream("m", "hi")
    began = time.monotonic()
    with pytest.raises(AgentAPIException) as refusal:
        async for _ in stream:
            pass
    assert refusal.value.code == "deadline_exceeded"
    assert time.monotonic() - began < 5
    assert await wire.stopped()


async def test_a_request_over_the_frame_limit_is_refused_as_too_large() -> None:
    wire = Wire()
    api = AgentRunAPI(wire.peers[0], "run")
    for asking in (api.tools.call("t", {"text": "x" * 3_000_000}), anext(api.models.stream("m", "x" * 3_000_000))):
        with pytest.raises(AgentAPIException) as refusal:
            await asking
        assert refusal.value.code == "payload_too_large"
    for peer in wire.peers:
        await peer.aclose()


async def test_a_run_past_its_deadline_opens_no_stream() -> None:
    host = RecordingCaller()
    with pytest.raises(AgentAPIException) as refusal:
        await anext(AgentRunAPI(host, "run", seconds_left=0).models.stream("m", "hi"))
    assert (refusal.value.code, host.requests) == ("deadline_exceeded", [])
