"""Tests active runs with a fake Host: steered, cancelled, timed out, and in several turns."""

import asyncio
import time
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from parlour_sdk import results
from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.results import Result
from parlour_sdk.testing import FakeHost
from parlour_sdk.testing import run as run_module

from .runners import runner, yielding


async def listening(ctx: Any, api: Any) -> AsyncGenerator[Result, None]:
    """Runs until it receives `stop`."""
    yield results.delta("listening")
    received: list[str] = []
    while "stop" not in received:
        received += [item.input.text for item in await api.steering.pull()]
        await asyncio.sleep(0.001)
    yield results.completed(" ".join(received))
    yield results.finished()


class Stuck:
    def __init__(self) -> None:
        self.stopped = False

    async def body(self, ctx: Any, api: Any) -> AsyncGenerator[Result, None]:
        yield results.delta("wait")
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped = True


async def test_messages_during_a_run_steer_it() -> None:
    host = FakeHost()
    async with host.start(runner(listening), "begin") as run:
        await run.until_delta("listen")
        assert run.status == "running"
        run.steer("one")
        run.steer("stop")
    assert run.text == "one stop"
    assert [item.content for item in host.history] == ["begin", "one", "stop", "one stop"]


async def test_steering_messages_can_be_planned_by_pull() -> None:
    async def body(ctx: Any, api: Any) -> AsyncGenerator[Result, None]:
        pulls = [[item.input.text for item in await api.steering.pull()] for _ in range(3)]
        yield results.completed(repr(pulls))

    assert (await FakeHost().run(runner(body), steering=["a", "b"])).text == "[['a', 'b'], [], []]"
    assert (await FakeHost().run(runner(body), steering={2: "a", 3: ["b"]})).text == "[[], ['a'], ['b']]"


async def test_steering_can_be_pulled_one_at_a_time() -> None:
    async def body(ctx: Any, api: Any) -> AsyncGenerator[Result, None]:
        first = await api.steering.pull("one-at-a-time")
        rest = await api.steering.pull(limit=1)
        yield results.completed(f"{first[0].input.text} {rest[0].input.text} {rest[0].claimed_run_id == ctx.run_id}")

    run = await FakeHost().run(runner(body), steering=["a", "b", "c"])
    assert run.text == "a b True"
    assert [item.input.text for item in run.unpulled] == ["c"]


async def test_steering_a_runner_without_the_capability_is_refused() -> None:
    host = FakeHost(capabilities={"streaming": True})
    with pytest.raises(ValueError, match="'steering'"):
        host.start(yielding(results.silent()), steering=["a"])


async def test_cancelling_a_run_stops_its_runner() -> None:
    stuck = Stuck()
    async with FakeHost().start(runner(stuck.body)) as run:
        await run.until_delta()
        run.cancel()
    assert run.failed_with("cancelled")
    assert (run.status, stuck.stopped) == ("cancelled", True)


async def test_a_run_that_is_cancelled_before_its_start_does_not_start() -> None:
    stuck = Stuck()
    async with FakeHost().start(runner(stuck.body)) as run:
        run.cancel()
    assert (run.status, run.results, stuck.stopped) == ("cancelled", [], False)


async def test_calls_of_a_cancelled_runner_are_refused() -> None:
    codes = []

    async def body(ctx: Any, api: Any) -> AsyncGenerator[Result, None]:
        yield results.delta("a")
        try:
            await asyncio.Event().wait()
        finally:
            try:
                await api.state.set("actor", "k", 1)
            except AgentAPIException as refusal:
                codes.append(refusal.code)

    async with FakeHost().start(runner(body)) as run:
        await run.until_delta()
        run.cancel()
    assert codes[0] in ("cancelled", "unauthorized")
    assert run.state["actor"] == {}


async def test_a_runner_that_ignores_its_cancellation_has_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "GRACE_SECONDS", 0.05)
    release = asyncio.Event()

    async def body(ctx: Any, api: Any) -> AsyncGenerator[Result, None]:
        yield results.delta("a")
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    async with FakeHost().start(runner(body)) as run:
        await run.until_delta()
        run.cancel()
        await run.wait()
        release.set()
    assert "still runs" in run.warnings[0]


async def test_a_run_that_takes_too_long_times_out() -> None:
    stuck = Stuck()
    started_at = time.monotonic()
    run = await FakeHost().run(runner(stuck.body), timeout=0.5)
    assert run.failed_with("runner.timeout")
    assert (run.status, stuck.stopped) == ("timeout", True)
    assert time.monotonic() - started_at < 5


async def test_a_call_beyond_the_deadline_of_the_run_fails() -> None:
    async def slow(request: Any) -> str:
        await asyncio.Event().wait()
        return ""

    codes = []

    async def body(ctx: Any, api: Any) -> AsyncGenerator[Result, None]:
        try:
            await api.models.invoke("slow", "hi")
        except AgentAPIException as refusal:
            codes.append(refusal.code)
            yield results.failed("hello.late", "the model took too long")

    deadline = {"deadline_at": int((time.time() + 0.05) * 1000), "trace_id": "t", "attempt": 1}
    run = await FakeHost(models={"slow": slow}).run(runner(body), timeout=0, context={"runtime": deadline})
    assert codes == ["deadline_exceeded"]
    assert run.failed_with("hello.late")


async def test_results_can_be_iterated_during_the_run() -> None:
    seen = []
    async with FakeHost().start(yielding(results.delta("a"), results.completed("ab"), results.finished())) as run:
        async for result in run:
            seen.append(result.type)
    assert seen == ["message.delta", "message.completed", "run.completed"]


async def test_waiting_for_a_missing_delta_fails_with_a_description_of_the_run() -> None:
    async with FakeHost().start(yielding(results.completed("hello"))) as run:
        with pytest.raises(AssertionError, match="said 'hello'"):
            await run.until_delta("never")


async def test_an_exception_in_the_test_cancels_the_run() -> None:
    stuck = Stuck()
    host = FakeHost()

    async def leave() -> None:
        async with host.start(runner(stuck.body)) as run:
            await run.until_delta()
            raise RuntimeError("the test failed")

    with pytest.raises(RuntimeError, match="the test failed"):
        await asyncio.wait_for(leave(), 30)
    assert stuck.stopped


async def test_turns_of_one_conversation_share_history_and_state() -> None:
    async def body(ctx: Any, api: Any) -> AsyncGenerator[Result, None]:
        turn = await api.state.get("conversation", "turn", 0) + 1
        await api.state.set("conversation", "turn", turn)
        page = await api.history.page()
        yield results.completed(f"{turn}: {[item.content for item in page.items]}")

    host = FakeHost(history=[("user", "before"), ("assistant", "yes")])
    assert (await host.run(runner(body), "a")).text == "1: ['before', 'yes', 'a']"
    second = await host.run(runner(body), "b")
    assert second.text.startswith("2: ")
    assert second.context.context.has_history_before
    host.new_conversation()
    third = await host.run(runner(body), "c")
    assert third.text == "1: ['c']"
    assert not third.context.context.has_history_before


async def test_concurrent_runs_are_separate() -> None:
    host = FakeHost()
    async with host.start(runner(listening)) as one, host.start(runner(listening)) as other:
        one.steer("one")
        other.steer("other")
        one.steer("stop")
        other.steer("stop")
    assert (one.text, other.text) == ("one stop", "other stop")
    assert one.run_id != other.run_id


async def test_a_run_knows_its_attempt() -> None:
    async def body(ctx: Any, api: Any) -> AsyncGenerator[Result, None]:
        yield results.completed(str(ctx.runtime.attempt))

    assert (await FakeHost().run(runner(body), attempt=2)).text == "2"
