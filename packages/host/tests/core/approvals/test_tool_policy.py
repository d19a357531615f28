"""Tool calls under an agent's tool policy: allowed, denied, or parked until a person decides."""

import asyncio
from typing import Any

import pytest

from parlour.core.approvals.tool_policy import ToolPolicy
from parlour.core.encoding import loads
from parlour.core.errors import CallRejected
from parlour.core.journal import Unit, Update, where
from parlour.core.model.providers import Providers
from parlour.core.reruns.reruns import RerunOptions
from parlour.core.store.tables import APPROVALS, AUDIT, JOBS, OUTBOX, RUNS
from parlour.testing.scripted import ScriptedTools, Tool

from ..models.model_support import DISCOVERED, cancel, start_run, world
from ..support import PuppetRun, World
from .approval_support import OPERATOR

ASK_LAMP = ({"tools": ["lamp"], "decide": "ask", "who": {"users": ["boss"]}, "seconds": 600},)


class Room:
    """A world with tools, and a run that calls them."""

    def __init__(self, made: World, tools: ScriptedTools, run: PuppetRun) -> None:
        self.world = made
        self.tools = tools
        self.run = run
        self._count = 0

    @classmethod
    async def open(cls, policy: tuple[dict[str, Any], ...] = ASK_LAMP, **agent: Any) -> "Room":
        tools = room_tools()
        made = await world(Providers(tools=tools), tool_policy=policy, **agent)
        return cls(made, tools, await start_run(made))

    def call(self, tool: str, **parameters: Any) -> "asyncio.Task[dict[str, Any]]":
        self._count += 1
        call_id = f"{self.run.run_id}:{self._count}"
        arguments = {"call_id": call_id, "tool_name": tool, "parameters": parameters}
        return asyncio.create_task(self.world.call(self.run, "call_tool", **arguments))

    async def calm(self) -> None:
        await asyncio.sleep(2)

    def approvals(self) -> list[dict[str, Any]]:
        return self.world.rows(APPROVALS)

    async def decide(self, verdict: Any, position: int = -1, reason: str = "") -> None:
        approval_id = self.approvals()[position]["approval_id"]
        await self.world.core.approvals.decide(approval_id, verdict, OPERATOR, reason)

    @property
    def done(self) -> list[tuple[str, dict[str, Any]]]:
        return [(each.tool_name, each.parameters) for each in self.tools.requests]


def room_tools() -> ScriptedTools:
    return ScriptedTools(
        {
            "lamp": Tool(lambda parameters: f"the lamp is {parameters['state']}"),
            "clock": Tool(lambda parameters: "noon", read_only=True),
        }
    )


def test_first_entry_that_matches_decides_and_others_are_allowed() -> None:
    policy = ToolPolicy.decode(
        [{"tools": ["box.read", "web.*"], "decide": "allow"}, {"tools": ["box.*"], "decide": "deny"}]
    )
    decisions = {name: policy.rule(name).decision for name in ("box.read", "box.exec", "web.fetch", "clock")}
    assert decisions == {"box.read": "allow", "box.exec": "deny", "web.fetch": "allow", "clock": "allow"}


async def test_approved_call_is_carried_out_once_and_the_run_gets_its_outcome() -> None:
    room = await Room.open()
    waiting = room.call("lamp", state="on")
    await room.calm()
    [approval] = room.approvals()
    assert (approval["status"], approval["action"], room.done) == ("pending", "tool.call", [])
    assert loads(approval["call"])["arguments"] == {"state": "on"}
    assert approval["words"].startswith('lamp {"state":"on"}')
    assert "ann" in approval["words"], "it says who asks"
    await room.decide("approve")
    outcome = await waiting
    assert outcome["content"] == [{"type": "text", "text": "the lamp is on"}]
    assert room.done == [("lamp", {"state": "on"})]
    assert loads(room.approvals()[0]["outcome"]) == {"state": "done", "result": "the lamp is on"}


async def test_denied_call_is_not_carried_out_and_the_reason_is_told() -> None:
    room = await Room.open()
    waiting = room.call("lamp", state="on")
    await room.calm()
    await room.decide("deny", reason="too bright")
    with pytest.raises(CallRejected, match="too bright") as refused:
        await waiting
    assert (refused.value.code, room.done) == ("denied", [])


async def test_approval_is_for_one_call_so_the_next_one_asks_again() -> None:
    room = await Room.open()
    for number, state in enumerate(("on", "off", "off")):
        waiting = room.call("lamp", state=state)
        await room.calm()
        assert len(room.approvals()) == number + 1
        await room.decide("approve")
        await waiting
    assert [parameters["state"] for _, parameters in room.done] == ["on", "off", "off"]


async def test_changed_arguments_in_the_database_are_refused() -> None:
    room = await Room.open()
    room.call("lamp", state="on")
    await room.calm()
    [approval] = room.approvals()
    changed = {"call": approval["call"].replace('"on"', '"off"')}
    change = Update(APPROVALS, changed, where(approval_id=approval["approval_id"]))
    await room.world.journal.commit(Unit("change", (change,)))
    with pytest.raises(CallRejected):
        await room.decide("approve")
    await room.calm()
    assert room.done == []


async def test_call_that_nobody_decides_expires_and_is_not_carried_out() -> None:
    room = await Room.open()
    waiting = room.call("lamp", state="on")
    with pytest.raises(CallRejected, match="nobody decided in time"):
        await waiting
    assert room.approvals()[0]["status"] == "expired"
    assert room.done == []


async def test_run_near_its_deadline_stops_waiting_and_the_result_is_posted_later() -> None:
    room = await Room.open(timeout_seconds=60)
    with pytest.raises(CallRejected) as pending:
        await room.call("lamp", state="on")
    assert pending.value.code == "approval_pending"
    room.run.answer("I asked")
    await room.calm()
    await room.decide("approve")
    await room.calm()
    assert room.done == [("lamp", {"state": "on"})]
    posted = [row["payload"] for row in room.world.rows(OUTBOX)]
    assert any("lamp was carried out after its approval: the lamp is on" in message for message in posted)


async def test_denied_tool_is_refused_and_audited() -> None:
    room = await Room.open(({"tools": ["lamp"], "decide": "deny"},))
    with pytest.raises(CallRejected) as refused:
        await room.call("lamp", state="on")
    assert (refused.value.code, room.done) == ("denied", [])
    assert any(row["action"] == "call_tool" and row["outcome"] == "denied" for row in room.world.rows(AUDIT))
    assert (await room.call("clock"))["content"][0]["text"] == "noon"


async def test_tool_that_needs_approval_says_so_in_its_description() -> None:
    room = await Room.open()
    details = [await room.world.call(room.run, "get_tool_detail", tool_name=name) for name in ("lamp", "clock")]
    assert [each["needs_approval"] for each in details] == [True, False]


async def test_cancelled_run_leaves_the_question_open_and_the_yes_still_counts() -> None:
    room = await Room.open()
    waiting = room.call("lamp", state="on")
    await room.calm()
    await cancel(room.world, room.run)
    with pytest.raises(CallRejected):
        await waiting
    await room.decide("approve")
    await room.calm()
    assert room.done == [("lamp", {"state": "on"})]


async def test_yes_after_a_restart_carries_out_the_stored_call_and_the_run_is_not_repeated() -> None:
    room = await Room.open()
    room.call("lamp", state="on")
    await room.calm()
    restarted = await room.world.restart(DISCOVERED, providers=Providers(tools=room.tools))
    await asyncio.sleep(2)
    assert len(restarted.plugins.runs) == 0, "a run that asked is not repeated"
    again = Room(restarted, room.tools, room.run)
    await again.decide("approve")
    await again.calm()
    assert again.done == [("lamp", {"state": "on"})]
    assert loads(again.approvals()[0]["outcome"])["state"] == "done"


async def test_decision_that_was_stored_before_a_crash_is_carried_out_after_it() -> None:
    room = await Room.open()
    room.call("lamp", state="on")
    await room.calm()
    room.world.journal.broken["job.begin"] = 10**6
    await room.decide("approve")
    restarted = await room.world.restart(DISCOVERED, providers=Providers(tools=room.tools))
    await asyncio.sleep(5)
    assert [(each.tool_name, each.parameters) for each in room.tools.requests] == [("lamp", {"state": "on"})]
    assert not restarted.open_jobs()


async def test_call_that_a_crash_cut_off_is_not_repeated_and_said() -> None:
    async def hang(parameters: dict[str, Any]) -> str:
        await asyncio.Event().wait()
        return ""

    tools = ScriptedTools({"lamp": Tool(hang)})
    made = await world(Providers(tools=tools), tool_policy=ASK_LAMP)
    room = Room(made, tools, await start_run(made))
    room.call("lamp", state="on")
    await room.calm()
    await room.decide("approve")
    await room.calm()
    assert [row["state"] for row in made.rows(JOBS)] == ["running"]
    restarted = await made.restart(DISCOVERED, providers=Providers(tools=tools))
    await asyncio.sleep(5)
    assert len(tools.requests) == 1
    assert loads(restarted.rows(APPROVALS)[0]["outcome"])["state"] == "uncertain"
    assert any("is not known" in row["payload"] for row in restarted.rows(OUTBOX))


async def test_waiting_run_has_output_and_effects_before_anybody_is_asked() -> None:
    room = await Room.open()
    room.call("lamp", state="on")
    await room.calm()
    row = room.world.rows(RUNS, run_id=room.run.run_id)[0]
    assert (row["shown"], row["effects"]) == (1, 1)


async def test_rerun_neither_asks_nor_calls_even_if_the_tool_is_allowed_in_it() -> None:
    room = await Room.open(({"tools": ["*"], "decide": "ask"},))
    room.run.answer("first")
    await room.world.rest()
    [original] = room.world.rows(RUNS)
    await room.world.core.reruns.start(original, RerunOptions(effects=("lamp",)))
    again = Room(room.world, room.tools, await room.world.plugins.next_run())
    for tool in ("lamp", "clock"):
        with pytest.raises(CallRejected, match="a rerun neither asks nor calls it"):
            await again.call(tool, state="on")
    again.run.answer("second")
    await room.world.core.reruns.join()
    assert (again.approvals(), again.done) == ([], [])
