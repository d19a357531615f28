"""A run whose calls are journaled: tried again it gets the answers it had, and neither pays nor acts twice."""

import asyncio
from typing import Any

import pytest

from parlour.core.errors import CallRejected
from parlour.core.model.providers import ProviderFailed, Providers
from parlour.core.store.tables import CALLS, RUNS
from parlour.testing.scripted import Hang, Reply, ScriptedModels, ScriptedTools, Tool

from ..support import PLUGIN, PuppetRun, World, make_agent, until
from .granted import ASK, DISCOVERED, cancel, running, world

BUSY = ProviderFailed("rate_limited", "it is busy", retryable=True)


def _fail(parameters: dict[str, Any]) -> str:
    raise BUSY


class Workshop:
    """Providers that outlive the Host, and the Host that is on them now."""

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
        return await running(self.world)

    async def restarted(self) -> PuppetRun:
        """The Host dies and is started again; the run is tried anew."""
        self.world = await self.world.restart(DISCOVERED, providers=self.providers)
        return await self.world.plugins.next_run()

    async def by_hand(self, run: PuppetRun) -> PuppetRun:
        """The run that is made when this one is to be tried again."""
        asked = {"call_id": "board:1", "target_run_id": run.run_id}
        await self.world.core.gate.call(PLUGIN, "run_retry", asked)
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


async def test_a_restarted_run_gets_the_answers_it_had_and_the_user_one_reply() -> None:
    shop = Workshop("first", "streamed words")
    run = await shop.open()
    first = [
        await shop.call(run, 1, "invoke_llm", **ASK),
        await shop.tool(run, 2, "lamp"),
        await shop.stream(run, 3),
        await shop.call(run, 4, "state_set", scope="conversation", key="k", value=1),
    ]
    again = await shop.restarted()
    second = [
        await shop.call(again, 1, "invoke_llm", **ASK),
        await shop.tool(again, 2, "lamp"),
        await shop.stream(again, 3),
        await shop.call(again, 4, "state_set", scope="conversation", key="k", value=1),
    ]
    again.answer("one answer")
    await shop.world.rest()
    assert again.run_id != run.run_id
    assert second == first
    assert (len(shop.models.requests), len(shop.tools.requests)) == (2, 1)
    rows = shop.world.rows(RUNS)
    assert [(row["status"], row["effects"]) for row in rows] == [("failed", 0), ("completed", 0)]
    replayed = [told for type, told in shop.world.facts(again.run_id) if type == "call.replayed"]
    assert [told["position"] for told in replayed] == [1, 2, 3, 4]


async def test_a_restarted_run_goes_on_where_its_answers_end() -> None:
    shop = Workshop("first", "second")
    run = await shop.open()
    await shop.call(run, 1, "invoke_llm", **ASK)
    again = await shop.restarted()
    await shop.call(again, 1, "invoke_llm", **ASK)
    answer = await shop.call(again, 2, "invoke_llm", **ASK)
    assert (answer["message"]["content"], len(shop.models.requests)) == ("second", 2)


async def test_calls_side_by_side_are_known_by_their_numbers() -> None:
    shop = Workshop("first", "second")
    run = await shop.open()
    asked = [shop.call(run, number, "invoke_llm", **ASK) for number in (1, 2)]
    first = await asyncio.gather(*asked)
    again = await shop.restarted()
    turned = [shop.call(again, number, "invoke_llm", **ASK) for number in (2, 1)]
    assert list(reversed(await asyncio.gather(*turned))) == first


async def test_state_that_was_read_before_it_changed_is_read_as_it_was() -> None:
    shop = Workshop()
    run = await shop.open()
    key = {"scope": "conversation", "key": "k"}
    assert (await shop.call(run, 1, "state_get", **key))["found"] is False
    await shop.call(run, 2, "state_set", **key, value=1)
    again = await shop.restarted()
    assert (await shop.call(again, 1, "state_get", **key))["found"] is False


async def test_without_journaling_a_run_that_acted_is_not_tried_again() -> None:
    shop = Workshop()
    run = await shop.open(journal_calls=False)
    await shop.tool(run, 1, "lamp")
    shop.world = await shop.world.restart(DISCOVERED, providers=shop.providers)
    await shop.world.rest()
    assert (shop.world.plugins.runs, shop.world.rows(CALLS)) == ([], [])


async def test_without_journaling_a_run_that_only_read_is_tried_again_and_asks_again() -> None:
    shop = Workshop()
    run = await shop.open(journal_calls=False)
    await shop.tool(run, 1, "clock")
    again = await shop.restarted()
    assert await shop.tool(again, 1, "clock") == "noon 2"


async def test_an_act_that_had_begun_when_the_host_died_is_not_repeated() -> None:
    shop = Workshop()
    run = await shop.open()
    acting = asyncio.ensure_future(shop.tool(run, 1, "slow"))
    await until(lambda: shop.tools.requests)
    again = await shop.restarted()
    assert acting.cancelled()
    with pytest.raises(
        CallRejected, match=r"call 1 \(call_tool\) had begun .* not known, so it is not repeated"
    ) as refused:
        await shop.tool(again, 1, "slow")
    assert (refused.value.code, len(shop.tools.requests)) == ("runtime_error", 1)


async def test_a_reading_that_had_begun_when_the_host_died_is_repeated() -> None:
    shop = Workshop(Hang(), "answered")
    run = await shop.open()
    asking = asyncio.ensure_future(shop.call(run, 1, "invoke_llm", **ASK))
    looking = asyncio.ensure_future(shop.tool(run, 2, "slow-clock"))
    await until(lambda: shop.models.requests and shop.tools.requests)
    again = await shop.restarted()
    assert asking.cancelled()
    assert looking.cancelled()
    shop.release.set()
    assert (await shop.call(again, 1, "invoke_llm", **ASK))["message"]["content"] == "answered"
    assert await shop.tool(again, 2, "slow-clock") == "done"


@pytest.mark.parametrize("other", [("invoke_llm", {**ASK, "extra": {"t": 1}}), ("state_get", None)])
async def test_a_run_that_asks_something_else_is_stopped_and_says_so(other: tuple[str, Any]) -> None:
    shop = Workshop("first")
    run = await shop.open()
    await shop.call(run, 1, "invoke_llm", **ASK)
    again = await shop.restarted()
    action, arguments = other
    with pytest.raises(CallRejected, match="a repeated run makes the same calls: call 1 is"):
        await shop.call(again, 1, action, **(arguments or {"scope": "conversation", "key": "k"}))
    await shop.world.rest()
    row = shop.world.rows(RUNS, run_id=again.run_id)[0]
    assert (row["status"], row["status_reason"]) == ("failed", "runner.diverged")
    assert f"call 1 is {action} now" in row["error"]
    assert len(shop.models.requests) == 1


async def test_an_error_that_the_run_went_on_from_is_given_again() -> None:
    shop = Workshop(BUSY, "second")
    run = await shop.open()
    with pytest.raises(CallRejected):
        await shop.call(run, 1, "invoke_llm", **ASK)
    await shop.call(run, 2, "invoke_llm", **ASK)
    again = await shop.restarted()
    with pytest.raises(CallRejected) as refused:
        await shop.call(again, 1, "invoke_llm", **ASK)
    assert (refused.value.code, refused.value.retryable) == ("rate_limited", True)
    assert (await shop.call(again, 2, "invoke_llm", **ASK))["message"]["content"] == "second"
    assert len(shop.models.requests) == 2


async def test_an_error_that_the_run_ended_on_is_asked_again() -> None:
    shop = Workshop(BUSY, "second")
    run = await shop.open()
    with pytest.raises(CallRejected):
        await shop.call(run, 1, "invoke_llm", **ASK)
    run.send(run.failed("puppet.busy", retryable=True))
    again = await shop.world.plugins.next_run()
    assert (await shop.call(again, 1, "invoke_llm", **ASK))["message"]["content"] == "second"


async def test_a_stream_that_broke_is_replayed_with_its_break() -> None:
    shop = Workshop(Reply("one two", then=BUSY), "next")
    run = await shop.open()
    with pytest.raises(CallRejected):
        await shop.stream(run, 1)
    await shop.call(run, 2, "invoke_llm", **ASK)
    again = await shop.restarted()
    parts = shop.world.stream(again, "invoke_llm_stream", call_id=f"{again.run_id}:1", **ASK)
    assert [(await anext(parts))["chunk"]["content"] for _ in range(2)] == ["one ", "two "]
    with pytest.raises(CallRejected, match="it is busy"):
        await anext(parts)


async def test_a_stream_that_was_left_is_asked_again() -> None:
    shop = Workshop("one two", "three four")
    run = await shop.open()
    left = shop.world.stream(run, "invoke_llm_stream", call_id=f"{run.run_id}:1", **ASK)
    await anext(left)
    await left.aclose()
    again = await shop.restarted()
    assert (await shop.stream(again, 1))[0]["chunk"]["content"] == "three "


async def test_an_answer_that_could_not_be_kept_is_not_given() -> None:
    shop = Workshop("first")
    run = await shop.open()
    shop.world.journal.broken["call.keep"] = 1
    with pytest.raises(CallRejected, match="the disk is full"):
        await shop.call(run, 1, "invoke_llm", **ASK)


async def test_a_tool_does_not_act_when_its_beginning_could_not_be_kept() -> None:
    shop = Workshop()
    run = await shop.open()
    shop.world.journal.broken["call.begin"] = 1
    with pytest.raises(CallRejected, match="the disk is full"):
        await shop.tool(run, 1, "lamp")
    assert shop.tools.requests == []


async def test_the_same_call_once_more_gets_the_same_answer() -> None:
    shop = Workshop("first")
    run = await shop.open()
    first = await shop.call(run, 1, "invoke_llm", **ASK)
    assert await shop.call(run, 1, "invoke_llm", **ASK) == first
    assert len(shop.models.requests) == 1


async def test_an_act_that_is_under_way_is_not_begun_again() -> None:
    shop = Workshop()
    run = await shop.open()
    acting = asyncio.ensure_future(shop.tool(run, 1, "slow"))
    await until(lambda: shop.tools.requests)
    with pytest.raises(CallRejected, match="call 1 of this run is already under way"):
        await shop.tool(run, 1, "slow")
    shop.release.set()
    assert await acting == "done"


@pytest.mark.parametrize("call_id", ["", "call", "run:", "run:0x1", "run:-1", "run:٣", "run:" + "9" * 30])
async def test_a_call_without_a_number_is_refused_with_what_is_accepted(call_id: str) -> None:
    shop = Workshop("first")
    run = await shop.open()
    with pytest.raises(CallRejected, match="call_id: the calls of this agent are journaled") as refused:
        await shop.world.call(run, "invoke_llm", call_id=call_id, **ASK)
    assert (refused.value.code, shop.models.requests) == ("invalid_argument", [])


async def test_an_agent_whose_journaling_was_ended_still_owes_the_answers_it_kept() -> None:
    shop = Workshop()
    run = await shop.open()
    await shop.tool(run, 1, "lamp")
    agent = shop.world.core.agents.get("agent")
    assert agent is not None
    await shop.world.core.agents.replace(make_agent(resource_policy=agent.resource_policy, journal_calls=False))
    again = await shop.restarted()
    assert (await shop.tool(again, 1, "lamp"), len(shop.tools.requests)) == ("lamp 1", 1)


async def test_what_a_runner_tells_of_a_journaled_tool_does_not_forbid_to_try_anew() -> None:
    shop = Workshop()
    run = await shop.open()
    started = {"tool_call_id": "1", "tool_name": "lamp", "parameters": {}}
    run.send(run.result("tool.call.started", started))
    await until(lambda: shop.world.facts(run.run_id))
    await shop.tool(run, 1, "lamp")
    again = await shop.restarted()
    assert await shop.tool(again, 1, "lamp") == "lamp 1"


async def test_what_a_runner_tells_of_a_tool_of_its_own_forbids_to_try_anew() -> None:
    shop = Workshop()
    run = await shop.open()
    run.send(run.result("tool.call.started", {"tool_call_id": "1", "tool_name": "shell", "parameters": {}}))
    await until(lambda: shop.world.facts(run.run_id))
    shop.world = await shop.world.restart(DISCOVERED, providers=shop.providers)
    await shop.world.rest()
    assert shop.world.plugins.runs == []


async def test_a_failed_run_that_is_retried_by_hand_gets_its_answers_and_a_completed_one_begins_anew() -> None:
    shop = Workshop("first", "second")
    run = await shop.open()
    await shop.call(run, 1, "invoke_llm", **ASK)
    run.send(run.failed())
    await shop.world.rest()
    retried = await shop.by_hand(run)
    assert (await shop.call(retried, 1, "invoke_llm", **ASK))["message"]["content"] == "first"
    retried.answer("done")
    await shop.world.rest()
    anew = await shop.by_hand(retried)
    assert (await shop.call(anew, 1, "invoke_llm", **ASK))["message"]["content"] == "second"


async def test_an_act_that_failed_is_not_repeated_even_if_the_run_ended_on_it() -> None:
    shop = Workshop()
    run = await shop.open()
    with pytest.raises(CallRejected):
        await shop.tool(run, 1, "broken")
    again = await shop.restarted()
    with pytest.raises(CallRejected, match="it is busy"):
        await shop.tool(again, 1, "broken")
    assert len(shop.tools.requests) == 1


async def test_a_call_of_a_run_that_is_cancelled_meanwhile_is_told_so() -> None:
    shop = Workshop(Hang())
    run = await shop.open()
    asked = asyncio.ensure_future(shop.call(run, 1, "invoke_llm", **ASK))
    await until(lambda: shop.models.requests)
    await cancel(shop.world, run)
    with pytest.raises(CallRejected) as refused:
        await asked
    assert (refused.value.code, shop.world.rows(CALLS)) == ("cancelled", [])
