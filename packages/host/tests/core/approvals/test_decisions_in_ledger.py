"""Whoever decides, and whenever: the ledger of the run that asked tells of it once."""

import asyncio
from typing import Any, ClassVar

import pytest

from parlour.core.approvals.decisions import Decider
from parlour.core.approvals.service import MAX_TRIES
from parlour.core.encoding import loads
from parlour.core.errors import CallRejected
from parlour.core.journal import ANY, Delete, GuardFailed, Insert, Receipt, Row, Statement, Unit, where
from parlour.core.model.event import Participant
from parlour.core.store import ledger
from parlour.core.store.tables import APPROVALS, RUN_EVENTS, RUNS

from ..runs.remote.workshop import Held, claim, granted, queued, register
from ..support import PLUGIN, BreakableJournal, PuppetRun, settle, until
from .support import ANN, ASK, BOSS, Group

KICK = ("member.kick", {"user_id": "eve"})
THERE = {"bot_id": "bot", "chat_type": "group", "chat_id": "7"}
OPERATOR = Decider(Participant("api_key", "k1", "Op"), operator=True)
POLICY = {"*": ASK, "elsewhere/*": ASK}


class Slow(BreakableJournal):
    """What it is told to be slow with is overtaken by others."""

    seconds: ClassVar[dict[str, float]] = {}

    async def commit(self, unit: Unit) -> Receipt:
        await asyncio.sleep(self.seconds.get(unit.name, 0))
        return await super().commit(unit)


class Decisions(Slow):
    seconds: ClassVar = {"approval.decide": 1}


class Endings(Slow):
    seconds: ClassVar = {"approval.decide": 1, "run.interrupt": 2, "run.end": 2}


class Interposing(BreakableJournal):
    """Once, something is written just before a decision is."""

    before: Statement | None = None

    async def commit(self, unit: Unit) -> Receipt:
        if unit.name == "approval.decide" and self.before is not None:
            before, self.before = self.before, None
            await super().commit(Unit("test.before", (before,)))
        return await super().commit(unit)


async def asked(times: int = 1, **ports: Any) -> tuple[Group, PuppetRun]:
    group = await Group.open(POLICY, "*", "elsewhere/*", ports=ports)
    run = await group.run()
    for _ in range(times):
        assert (await group.ask(run, *KICK))["status"] == "pending"
    return group, run


async def over(times: int = 1, **ports: Any) -> tuple[Group, PuppetRun]:
    group, run = await asked(times, **ports)
    run.answer("asked")
    await group.world.rest()
    return group, run


async def held(journal: BreakableJournal) -> tuple[Group, Held]:
    """A run that a remote runtime executes, and which has asked."""
    group = await Group.open(POLICY, "elsewhere/*", ports={"plugin_grants": granted, "journal": journal})
    await register(group.world)
    creator = await group.run()
    await queued(group.world, plugin=PLUGIN, run_id=creator.run_id)
    creator.answer("it is begun")
    run = await claim(group.world, wait=10)
    assert run is not None
    await run.say("one")
    request = {"run_id": run.run_id, "call_id": "call:1", "lease": run.lease, "action": KICK[0]}
    await group.world.core.gate.call(run.plugin, "platform_action", {**request, "target": {**KICK[1], **THERE}})
    return group, run


async def restarted(group: Group, run: Held) -> tuple[Group, Held]:
    group = await group.restart()
    return group, Held(group.world, run.plugin, run.run_id, run.lease, run.claimed, run.sent)


async def decide(group: Group, approval: Row | None = None) -> None:
    row = approval or group.approval()
    await group.world.core.approvals.decide(row["approval_id"], "approve", OPERATOR)


def events(group: Group) -> list[Row]:
    return sorted(group.rows(RUN_EVENTS), key=lambda row: (row["run_id"], row["sequence"]))


def types(group: Group) -> list[str]:
    return [row["type"] for row in events(group)]


def told(group: Group) -> list[tuple[str, str, str | None, str | None]]:
    """What the ledger says of each approval, in order."""
    rows = [row for row in events(group) if row["type"] == "approval.decided"]
    assert {(row["run_id"], row["source"]) for row in rows} <= {(run["run_id"], "host") for run in group.rows(RUNS)}
    facts = [loads(row["data"]) for row in rows]
    assert len({fact["approval_id"] for fact in facts}) == len(facts)
    return [(fact["action"], fact["status"], fact["decided_by"], fact["reason"]) for fact in facts]


APPROVED = [("member.kick", "approved", "api_key:k1", None)]


async def test_of_a_run_that_went_on_it_stands_among_what_the_run_did() -> None:
    group, run = await asked()
    await group.say(f"approve {group.keyword}", BOSS)
    assert told(group) == [("member.kick", "approved", "user:boss", None)]
    run.answer("asked")
    await group.world.rest()
    assert types(group) == ["action.decided", "approval.decided", "message.completed", "run.completed"]


async def test_of_a_run_that_waits_it_is_told_once() -> None:
    group = await Group.open(POLICY)
    run = await group.run()
    waiting = asyncio.create_task(group.ask(run, *KICK, wait=60))
    await group.calm()
    await group.say(f"approve {group.keyword}", BOSS)
    assert (await waiting)["status"] == "done"
    run.answer("done it")
    await group.world.rest()
    assert told(group) == [("member.kick", "approved", "user:boss", None)]
    assert types(group)[:2] == ["action.decided", "approval.decided"]


async def test_that_it_was_asked_is_in_the_ledger_before_anybody_decides() -> None:
    group, _ = await asked()
    assert [(row["type"], loads(row["data"])["status"]) for row in events(group)] == [("action.decided", "pending")]


async def test_of_a_run_that_is_over_it_follows_the_end() -> None:
    group, _ = await over()
    await group.say(f"deny {group.keyword} she is nice", BOSS)
    assert told(group) == [("member.kick", "denied", "user:boss", "she is nice")]
    assert types(group)[-1] == "approval.decided"
    [run] = group.rows(RUNS)
    assert run["status"] == "completed"


@pytest.mark.parametrize("ends", [True, False], ids=["a run that is over", "a run that goes on"])
async def test_what_nobody_decided_is_told_of_too(ends: bool) -> None:
    group, _ = await (over() if ends else asked())
    await asyncio.sleep(1801)
    await group.calm()
    assert told(group) == [("member.kick", "expired", None, "nobody decided in time")]


async def test_what_was_asked_before_the_host_died_is_told_of_when_it_is_decided() -> None:
    group, _ = await asked()
    keyword = group.keyword
    group = await group.restart()
    await group.say(f"approve {keyword}", BOSS)
    await group.world.rest()
    assert told(group) == [("member.kick", "approved", "user:boss", None)]


async def test_whenever_the_host_dies_it_is_told_once() -> None:
    for turns in range(40):
        group, _ = await asked()
        keyword = group.keyword
        deciding = asyncio.create_task(group.say(f"approve {keyword}", BOSS, event_id="decision"))
        await settle(turns)
        deciding.cancel()
        group = await group.restart()
        await group.say(f"approve {keyword}", BOSS, event_id="decision")
        await group.world.rest()
        assert told(group) == [("member.kick", "approved", "user:boss", None)]


async def test_a_run_that_was_cut_off_is_ended_beside_what_expired_meanwhile() -> None:
    group, _ = await asked(journal=Endings())
    for text in ("and", "then"):
        await group.say(text, ANN)
        await settle()
    group.world.journal.dead = True
    await asyncio.sleep(1801)
    group = await group.restart()
    await asyncio.sleep(10)
    assert told(group) == [("member.kick", "expired", None, "nobody decided in time")]
    assert types(group).count("steering.dropped") == 2
    assert sorted(run["status"] for run in group.rows(RUNS))[0] == "failed"


async def test_a_decision_at_the_moment_in_which_the_run_ends_gets_a_number_of_its_own() -> None:
    group, run = await asked(journal=Endings())
    for text in ("and", "then", "so"):
        await group.say(text, ANN)
        await settle()
    run.answer("asked")
    await settle()
    await decide(group)
    await asyncio.sleep(10)
    assert told(group) == APPROVED
    assert types(group).count("steering.dropped") == 3
    assert "run.completed" in types(group)


async def test_decisions_at_once_about_a_run_that_is_over_are_all_told() -> None:
    group, _ = await over(times=5)
    await asyncio.gather(*(decide(group, row) for row in group.rows(APPROVALS)))
    assert told(group) == APPROVED * 5
    numbers = [row["sequence"] for row in events(group)]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


async def test_a_run_that_is_executed_elsewhere_goes_on_after_it() -> None:
    group, run = await held(BreakableJournal())
    await decide(group)
    await run.say("two")
    await run.complete()
    await group.world.rest()
    assert told(group) == APPROVED
    assert types(group)[-1] == "run.completed"


async def test_a_run_that_goes_on_after_a_restart_does_not_collide_with_what_expired_meanwhile() -> None:
    group, run = await held(Decisions())
    group.world.journal.dead = True
    await asyncio.sleep(1801)
    group, run = await restarted(group, run)
    await asyncio.sleep(5)
    await run.say("two")
    await run.complete()
    await group.world.rest()
    assert told(group) == [("member.kick", "expired", None, "nobody decided in time")]
    assert types(group)[-1] == "run.completed"


async def test_a_run_that_looks_up_how_far_it_came_leaves_a_decision_its_number() -> None:
    group, run = await held(Decisions())
    group.world.journal.broken["run.progress"] = 1
    with pytest.raises(CallRejected, match="disk is full"):
        await run.say("two")
    deciding = asyncio.create_task(decide(group))
    await settle()
    await run.say("two", sequence=2)
    await deciding
    await run.say("three", sequence=3)
    await run.complete(sequence=4)
    await group.world.rest()
    assert told(group) == APPROVED


async def test_a_number_that_somebody_else_took_does_not_undo_the_decision() -> None:
    journal = Interposing()
    group, run = await over(journal=journal)
    journal.before = ledger.append_event(
        run.run_id, events(group)[-1]["sequence"] + 1, "test.note", {}, 0, source="host"
    )
    await decide(group)
    await group.world.rest()
    assert types(group)[-2:] == ["test.note", "approval.decided"]
    assert len(group.done("kick_member")) == 1


async def test_nothing_is_told_of_a_run_that_was_taken_away() -> None:
    journal = Interposing()
    group, run = await over(journal=journal)
    gone = where(run_id=run.run_id)
    await journal.commit(Unit("test.gone", (Delete(RUN_EVENTS, gone, expect=ANY),)))
    journal.before = Delete(RUNS, gone)
    await decide(group)
    await group.world.rest()
    assert group.rows(RUN_EVENTS) == []
    assert group.approval()["status"] == "approved"
    assert len(group.done("kick_member")) == 1


async def test_a_decision_that_comes_too_late_brings_nothing_back_of_a_deleted_conversation() -> None:
    group, _ = await over(journal=Decisions())
    deciding = asyncio.create_task(decide(group))
    await settle()
    [run] = group.rows(RUNS)
    await group.world.core.conversation_eraser.erase(run["conversation_id"], OPERATOR.participant)
    with pytest.raises(CallRejected, match="nothing was done"):
        await deciding
    assert group.rows(RUN_EVENTS) == []


async def test_a_decision_about_what_no_run_asked_for_is_told_nowhere() -> None:
    group, _ = await over()
    asked_by_nobody = {**group.approval(), "approval_id": "nobody's", "run_id": "", "keyword": "none"}
    await group.world.journal.commit(Unit("test.asked", (Insert(APPROVALS, asked_by_nobody),)))
    await decide(group, asked_by_nobody)
    assert told(group) == []
    assert [row["status"] for row in group.rows(APPROVALS) if not row["run_id"]] == ["approved"]


async def test_what_became_of_an_approved_action_is_written_once_the_database_is_back() -> None:
    group, run = await asked()
    group.world.journal.broken["approval.outcome"] = 1
    await group.say(f"approve {group.keyword}", BOSS)
    await until(lambda: loads(group.approval()["outcome"]).get("state") == "sent")
    run.answer("done")
    await group.world.rest()


class Overtaken(BreakableJournal):
    """Whatever is decided, the run's ledger has gone on meanwhile."""

    left = 0

    async def commit(self, unit: Unit) -> Receipt:
        if unit.name == "approval.decide" and self.left:
            self.left -= 1
            raise GuardFailed(unit.name, len(unit.statements) - 1)
        return await super().commit(unit)


async def test_a_question_that_could_not_expire_in_its_moment_does_so_a_little_later() -> None:
    journal = Overtaken()
    group, run = await asked(journal=journal)
    run.answer("done")
    await group.world.rest()
    journal.left = MAX_TRIES
    await until(lambda: group.approval()["status"] == "expired")
    assert journal.left == 0
    await group.world.rest()
