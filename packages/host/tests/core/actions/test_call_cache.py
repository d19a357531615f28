"""Cached calls of a run: a retried run gets the same answers and neither pays nor acts twice."""

import asyncio
from typing import Any

import pytest

from parlour.core.errors import CallRejected
from parlour.core.model.providers import ProviderFailed, Providers
from parlour.core.store.tables import CALLS, RUNS
from parlour.testing.scripted import Hang, Reply, ScriptedModels, ScriptedTools, Tool

from ..models.model_support import ASK, DISCOVERED, cancel, start_run, world
from ..support import PLUGIN, PuppetRun, World, make_agent, until

BUSY = ProviderFailed("rate_limited", "it is busy", retryable=True)


def _fail(parameters: dict[str, Any]) -> str:
    raise BUSY


class CachedCalls:
    """Providers that survive restarts of the Host, and its current world."""

    def __init__(self, *replies: Any) -> None:
        self.models = ScriptedModels(*replies)
        self.release = asyncio.Event()
        self.tools = ScriptedTools(
            {
                "lamp": Tool(lambda parameters: f"lamp {len(self.tools.requests)}"),
                "clock": Tool(lambda parameters: f"noon {len(self.tools.requests)}", read_only=True),
                "broken": Tool(_fail),
                "slow": Tool(self._slow),
                "slow-clock": Tool(self._slow, read_only=True),
            }
        )
        self.providers = Providers(models=self.models, tools=self.tools)
        self.world: World

    async def open(self, **agent: Any) -> PuppetRun:
        self.world = await world(self.providers, **{"journal_calls": True, **agent})
        return await start_run(self.world)

    async def restarted(self) -> PuppetRun:
        """Restarts the Host after a crash and returns the retried run."""
        self.world = await self.world.restart(DISCOVERED, providers=self.providers)
        return await self.world.plugins.next_run()

    async def retry_manually(self, run: PuppetRun) -> PuppetRun:
        """Retries this run as an operator does and returns the new run."""
        arguments = {"call_id": "board:1", "target_run_id": run.run_id}
        await self.world.core.gate.call(PLUGIN, "run_retry", arguments)
        return await self.world.plugins.next_run()

    async def call(self, run: PuppetRun, number: int, action: str, **arguments: Any) -> dict[str, Any]:
        return await self.world.call(run, action, call_id=f"{run.run_id}:{number}", **arguments)

    async def stream(self, run: PuppetRun, number: int) -> list[dict[str, Any]]:
        call_id = f"{run.run_id}:{number}"
        return [part async for part in self.world.stream(run, "invoke_llm_stream", call_id=call_id, **ASK)]

    async def tool(self, run: PuppetRun, number: int, name: str) -> str:
        outcome = await self.call(run, number, "call_tool", tool_name=name, parameters={"b": 1, "a": 2})
        return str(outcome["content"][0]["text"])

    async def _slow(self, parameters: dict[str, Any]) -> str:
        await self.release.wait()
        return "done"


async def test_restarted_run_gets_cached_answers_and_the_user_one_reply() -> None:
    calls = CachedCalls("first", "streamed words")
    run = await calls.open()
    first = [
        await calls.call(run, 1, "invoke_llm", **ASK),
        await calls.tool(run, 2, "lamp"),
        await calls.stream(run, 3),
        await calls.call(run, 4, "state_set", scope="conversation", key="k", value=1),
    ]
    again = await calls.restarted()
    second = [
        await calls.call(again, 1, "invoke_llm", **ASK),
        await calls.tool(again, 2, "lamp"),
        await calls.stream(again, 3),
        await calls.call(again, 4, "state_set", scope="conversation", key="k", value=1),
    ]
    again.answer("one answer")
    await calls.world.rest()
    assert again.run_id != run.run_id
    assert second == first
    assert (len(calls.models.requests), len(calls.tools.requests)) == (2, 1)
    rows = calls.world.rows(RUNS)
    assert [(row["status"], row["effects"]) for row in rows] == [("failed", 0), ("completed", 0)]
    replayed = [data for type, data in calls.world.facts(again.run_id) if type == "call.replayed"]
    assert [data["position"] for data in replayed] == [1, 2, 3, 4]


async def test_restarted_run_continues_after_its_cached_answers() -> None:
    calls = CachedCalls("first", "second")
    run = await calls.open()
    await calls.call(run, 1, "invoke_llm", **ASK)
    again = await calls.restarted()
    await calls.call(again, 1, "invoke_llm", **ASK)
    answer = await calls.call(again, 2, "invoke_llm", **ASK)
    assert (answer["message"]["content"], len(calls.models.requests)) == ("second", 2)


async def test_concurrent_calls_are_matched_by_their_numbers() -> None:
    calls = CachedCalls("first", "second")
    run = await calls.open()
    pending_calls = [calls.call(run, number, "invoke_llm", **ASK) for number in (1, 2)]
    first = await asyncio.gather(*pending_calls)
    again = await calls.restarted()
    reversed_calls = [calls.call(again, number, "invoke_llm", **ASK) for number in (2, 1)]
    assert list(reversed(await asyncio.gather(*reversed_calls))) == first


async def test_replayed_state_read_returns_the_value_of_its_time() -> None:
    calls = CachedCalls()
    run = await calls.open()
    key = {"scope": "conversation", "key": "k"}
    assert (await calls.call(run, 1, "state_get", **key))["found"] is False
    await calls.call(run, 2, "state_set", **key, value=1)
    again = await calls.restarted()
    assert (await calls.call(again, 1, "state_get", **key))["found"] is False


async def test_run_with_effects_is_not_retried_without_call_cache() -> None:
    calls = CachedCalls()
    run = await calls.open(journal_calls=False)
    await calls.tool(run, 1, "lamp")
    calls.world = await calls.world.restart(DISCOVERED, providers=calls.providers)
    await calls.world.rest()
    assert (calls.world.plugins.runs, calls.world.rows(CALLS)) == ([], [])


async def test_read_only_run_is_retried_with_new_calls_without_call_cache() -> None:
    calls = CachedCalls()
    run = await calls.open(journal_calls=False)
    await calls.tool(run, 1, "clock")
    again = await calls.restarted()
    assert await calls.tool(again, 1, "clock") == "noon 2"


async def test_interrupted_tool_call_with_effects_is_not_repeated() -> None:
    calls = CachedCalls()
    run = await calls.open()
    acting = asyncio.ensure_future(calls.tool(run, 1, "slow"))
    await until(lambda: calls.tools.requests)
    again = await calls.restarted()
    assert acting.cancelled()
    with pytest.raises(
        CallRejected, match=r"call 1 \(call_tool\) had begun .* not known, so it is not repeated"
    ) as refused:
        await calls.tool(again, 1, "slow")
    assert (refused.value.code, len(calls.tools.requests)) == ("runtime_error", 1)


async def test_interrupted_read_only_call_is_repeated() -> None:
    calls = CachedCalls(Hang(), "answered")
    run = await calls.open()
    asking = asyncio.ensure_future(calls.call(run, 1, "invoke_llm", **ASK))
    looking = asyncio.ensure_future(calls.tool(run, 2, "slow-clock"))
    await until(lambda: calls.models.requests and calls.tools.requests)
    again = await calls.restarted()
    assert asking.cancelled()
    assert looking.cancelled()
    calls.release.set()
    assert (await calls.call(again, 1, "invoke_llm", **ASK))["message"]["content"] == "answered"
    assert await calls.tool(again, 2, "slow-clock") == "done"


@pytest.mark.parametrize("other", [("invoke_llm", {**ASK, "extra": {"t": 1}}), ("state_get", None)])
async def test_diverging_run_is_stopped_with_its_reason(other: tuple[str, Any]) -> None:
    calls = CachedCalls("first")
    run = await calls.open()
    await calls.call(run, 1, "invoke_llm", **ASK)
    again = await calls.restarted()
    action, arguments = other
    with pytest.raises(CallRejected, match="a repeated run makes the same calls: call 1 is"):
        await calls.call(again, 1, action, **(arguments or {"scope": "conversation", "key": "k"}))
    await calls.world.rest()
    row = calls.world.rows(RUNS, run_id=again.run_id)[0]
    assert (row["status"], row["status_reason"]) == ("failed", "runner.diverged")
    assert f"call 1 is {action} now" in row["error"]
    assert len(calls.models.requests) == 1


async def test_handled_error_is_replayed() -> None:
    calls = CachedCalls(BUSY, "second")
    run = await calls.open()
    with pytest.raises(CallRejected):
        await calls.call(run, 1, "invoke_llm", **ASK)
    await calls.call(run, 2, "invoke_llm", **ASK)
    again = await calls.restarted()
    with pytest.raises(CallRejected) as refused:
        await calls.call(again, 1, "invoke_llm", **ASK)
    assert (refused.value.code, refused.value.retryable) == ("rate_limited", True)
    assert (await calls.call(again, 2, "invoke_llm", **ASK))["message"]["content"] == "second"
    assert len(calls.models.requests) == 2


async def test_final_error_of_a_run_is_not_replayed() -> None:
    calls = CachedCalls(BUSY, "second")
    run = await calls.open()
    with pytest.raises(CallRejected):
        await calls.call(run, 1, "invoke_llm", **ASK)
    run.send(run.failed("puppet.busy", retryable=True))
    await calls.world.rest()
    assert len(calls.world.plugins.runs) == 1  # a service in trouble is not asked again at once
    again = await calls.retry_manually(run)
    assert (await calls.call(again, 1, "invoke_llm", **ASK))["message"]["content"] == "second"


async def test_broken_stream_is_replayed_with_its_error() -> None:
    calls = CachedCalls(Reply("one two", then=BUSY), "next")
    run = await calls.open()
    with pytest.raises(CallRejected):
        await calls.stream(run, 1)
    await calls.call(run, 2, "invoke_llm", **ASK)
    again = await calls.restarted()
    parts = calls.world.stream(again, "invoke_llm_stream", call_id=f"{again.run_id}:1", **ASK)
    assert [(await anext(parts))["chunk"]["content"] for _ in range(2)] == ["one ", "two "]
    with pytest.raises(CallRejected, match="it is busy"):
        await anext(parts)


async def test_abandoned_stream_is_called_again() -> None:
    calls = CachedCalls("one two", "three four")
    run = await calls.open()
    left = calls.world.stream(run, "invoke_llm_stream", call_id=f"{run.run_id}:1", **ASK)
    await anext(left)
    await left.aclose()
    again = await calls.restarted()
    assert (await calls.stream(again, 1))[0]["chunk"]["content"] == "three "


async def test_answer_is_withheld_if_it_cannot_be_stored() -> None:
    calls = CachedCalls("first")
    run = await calls.open()
    calls.world.journal.broken["call.keep"] = 1
    with pytest.raises(CallRejected, match="the disk is full"):
        await calls.call(run, 1, "invoke_llm", **ASK)


async def test_tool_is_not_called_if_its_start_cannot_be_stored() -> None:
    calls = CachedCalls()
    run = await calls.open()
    calls.world.journal.broken["call.begin"] = 1
    with pytest.raises(CallRejected, match="the disk is full"):
        await calls.tool(run, 1, "lamp")
    assert calls.tools.requests == []


async def test_repeated_call_gets_the_cached_answer() -> None:
    calls = CachedCalls("first")
    run = await calls.open()
    first = await calls.call(run, 1, "invoke_llm", **ASK)
    assert await calls.call(run, 1, "invoke_llm", **ASK) == first
    assert len(calls.models.requests) == 1


async def test_active_call_is_not_started_twice() -> None:
    calls = CachedCalls()
    run = await calls.open()
    acting = asyncio.ensure_future(calls.tool(run, 1, "slow"))
    await until(lambda: calls.tools.requests)
    with pytest.raises(CallRejected, match="call 1 of this run is already under way"):
        await calls.tool(run, 1, "slow")
    calls.release.set()
    assert await acting == "done"


@pytest.mark.parametrize("call_id", ["", "call", "run:", "run:0x1", "run:-1", "run:٣", "run:" + "9" * 30])
async def test_call_without_a_number_is_refused_with_the_accepted_form(call_id: str) -> None:
    calls = CachedCalls("first")
    run = await calls.open()
    with pytest.raises(CallRejected, match="call_id: the calls of this agent are journaled") as refused:
        await calls.world.call(run, "invoke_llm", call_id=call_id, **ASK)
    assert (refused.value.code, calls.models.requests) == ("invalid_argument", [])


async def test_cached_answers_are_used_after_the_cache_is_disabled() -> None:
    calls = CachedCalls()
    run = await calls.open()
    await calls.tool(run, 1, "lamp")
    agent = calls.world.core.agents.get("agent")
    assert agent is not None
    await calls.world.core.agents.replace(make_agent(resource_policy=agent.resource_policy, journal_calls=False))
    again = await calls.restarted()
    assert (await calls.tool(again, 1, "lamp"), len(calls.tools.requests)) == ("lamp 1", 1)


async def test_reported_cached_tool_call_does_not_prevent_a_retry() -> None:
    calls = CachedCalls()
    run = await calls.open()
    started = {"tool_call_id": "1", "tool_name": "lamp", "parameters": {}}
    run.send(run.result("tool.call.started", started))
    await until(lambda: calls.world.facts(run.run_id))
    await calls.tool(run, 1, "lamp")
    again = await calls.restarted()
    assert await calls.tool(again, 1, "lamp") == "lamp 1"


async def test_reported_own_tool_call_prevents_a_retry() -> None:
    calls = CachedCalls()
    run = await calls.open()
    run.send(run.result("tool.call.started", {"tool_call_id": "1", "tool_name": "shell", "parameters": {}}))
    await until(lambda: calls.world.facts(run.run_id))
    calls.world = await calls.world.restart(DISCOVERED, providers=calls.providers)
    await calls.world.rest()
    assert calls.world.plugins.runs == []


async def test_manual_retry_replays_a_failed_run_and_not_a_completed_one() -> None:
    calls = CachedCalls("first", "second")
    run = await calls.open()
    await calls.call(run, 1, "invoke_llm", **ASK)
    run.send(run.failed())
    await calls.world.rest()
    retried = await calls.retry_manually(run)
    assert (await calls.call(retried, 1, "invoke_llm", **ASK))["message"]["content"] == "first"
    retried.answer("done")
    await calls.world.rest()
    fresh = await calls.retry_manually(retried)
    assert (await calls.call(fresh, 1, "invoke_llm", **ASK))["message"]["content"] == "second"


async def test_failed_tool_call_with_effects_is_not_repeated() -> None:
    calls = CachedCalls()
    run = await calls.open()
    with pytest.raises(CallRejected):
        await calls.tool(run, 1, "broken")
    again = await calls.restarted()
    with pytest.raises(CallRejected, match="it is busy"):
        await calls.tool(again, 1, "broken")
    assert len(calls.tools.requests) == 1


async def test_pending_call_of_a_cancelled_run_is_refused_as_cancelled() -> None:
    calls = CachedCalls(Hang())
    run = await calls.open()
    pending_call = asyncio.ensure_future(calls.call(run, 1, "invoke_llm", **ASK))
    await until(lambda: calls.models.requests)
    await cancel(calls.world, run)
    with pytest.raises(CallRejected) as refused:
        await pending_call
    assert (refused.value.code, calls.world.rows(CALLS)) == ("cancelled", [])
