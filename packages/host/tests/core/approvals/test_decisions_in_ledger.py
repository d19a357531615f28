"""Each decision about an approval is written once to the ledger of the run that requested it."""

import asyncio
from typing import Any, ClassVar

import pytest

from parlour.core.approvals.decisions import Decider
from parlour.core.approvals.service import MAX_TRIES
from parlour.core.encoding import loads
from parlour.core.errors import CallRejected
from parlour.core.journal import (
    ANY,
    Delete,
    GuardFailed,
    Insert,
    PreparedCallback,
    Receipt,
    Row,
    Statement,
    Unit,
    where,
)
from parlour.core.model.event import Participant
from parlour.core.store import ledger
from parlour.core.store.tables import APPROVALS, RUN_EVENTS, RUNS

from ..remote.worker_support import Held, claim, granted, queue_run, register
from ..support import PLUGIN, BreakableJournal, PuppetRun, settle, until
from .approval_support import ANN, ASK, BOSS, Group

KICK = ("member.kick", {"user_id": "eve"})
CHAT = {"bot_id": "bot", "chat_type": "group", "chat_id": "7"}
OPERATOR = Decider(Participant("api_key", "k1", "Op"), operator=True)
POLICY = {"*": ASK, "elsewhere/*": ASK}


class SlowJournal(BreakableJournal):
    """A journal that delays units by name, so that others overtake them."""

    seconds: ClassVar[dict[str, float]] = {}

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        await asyncio.sleep(self.seconds.get(unit.name, 0))
        return await super().commit(unit, on_prepared)


class SlowDecisions(SlowJournal):
    seconds: ClassVar = {"approval.decide": 1}


class SlowEndings(SlowJournal):
    seconds: ClassVar = {"approval.decide": 1, "run.interrupt": 2, "run.end": 2}


class InterposingJournal(BreakableJournal):
    """A journal that once commits a statement just before a decision."""

    before: Statement | None = None

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        if unit.name == "approval.decide" and self.before is not None:
            before, self.before = self.before, None
            await super().commit(Unit("test.before", (before,)))
        return await super().commit(unit, on_prepared)


async def request_kick(times: int = 1, **ports: Any) -> tuple[Group, PuppetRun]:
    group = await Group.open(POLICY, "*", "elsewhere/*", ports=ports)
    run = await group.run()
    for _ in range(times):
        assert (await group.ask(run, *KICK))["status"] == "pending"
    return group, run


async def request_and_end(times: int = 1, **ports: Any) -> tuple[Group, PuppetRun]:
    group, run = await request_kick(times, **ports)
    run.answer("asked")
    await group.world.rest()
    return group, run


async def claim_remote_run(journal: BreakableJournal) -> tuple[Group, Held]:
    """Opens a run that a remote worker executes and that has requested an action."""
    group = await Group.open(POLICY, "elsewhere/*", ports={"plugin_grants": granted, "journal": journal})
    await register(group.world)
    creator = await group.run()
    await queue_run(group.world, plugin=PLUGIN, run_id=creator.run_id)
    creator.answer("it is started")
    run = await claim(group.world, wait=10)
    assert run is not None
    await run.say("one")
    request = {"run_id": run.run_id, "call_id": "call:1", "lease": run.lease, "action": KICK[0]}
    await group.world.core.gate.call(run.plugin, "platform_action", {**request, "target": {**KICK[1], **CHAT}})
    return group, run


async def restart_with_claim(group: Group, run: Held) -> tuple[Group, Held]:
    group = await group.restart()
    return group, Held(group.world, run.plugin, run.run_id, run.lease, run.claimed, run.sent)


async def decide(group: Group, approval: Row | None = None) -> None:
    row = approval or group.approval()
    await group.world.core.approvals.decide(row["approval_id"], "approve", OPERATOR)


def events(group: Group) -> list[Row]:
    return sorted(group.rows(RUN_EVENTS), key=lambda row: (row["run_id"], row["sequence"]))


def types(group: Group) -> list[str]:
    return [row["type"] for row in events(group)]


def ledger_decisions(group: Group) -> list[tuple[str, str, str | None, str | None]]:
    """Returns the decisions that the ledger has, in order."""
    rows = [row for row in events(group) if row["type"] == "approval.decided"]
    assert {(row["run_id"], row["source"]) for row in rows} <= {(run["run_id"], "host") for run in group.rows(RUNS)}
    facts = [loads(row["data"]) for row in rows]
    assert len({fact["approval_id"] for fact in facts}) == len(facts)
    return [(fact["action"], fact["status"], fact["decided_by"], fact["reason"]) for fact in facts]


APPROVED = [("member.kick", "approved", "api_key:k1", None)]


async def test_decision_during_the_run_is_written_among_its_events() -> None:
    group, run = await request_kick()
    await group.say(f"approve {group.keyword}", BOSS)
    assert ledger_decisions(group) == [("member.kick", "approved", "user:boss", None)]
    run.answer("asked")
    await group.world.rest()
    assert types(group) == ["action.decided", "approval.decided", "message.completed", "run.completed"]


async def test_decision_of_a_waiting_run_is_written_once() -> None:
    group = await Group.open(POLICY)
    run = await group.run()
    waiting = asyncio.create_task(group.ask(run, *KICK, wait=60))
    await group.calm()
    await group.say(f"approve {group.keyword}", BOSS)
    assert (await waiting)["status"] == "done"
    run.answer("done it")
    await group.world.rest()
    assert ledger_decisions(group) == [("member.kick", "approved", "user:boss", None)]
    assert types(group)[:2] == ["action.decided", "approval.decided"]


async def test_request_is_in_the_ledger_before_its_decision() -> None:
    group, _ = await request_kick()
    assert [(row["type"], loads(row["data"])["status"]) for row in events(group)] == [("action.decided", "pending")]


async def test_decision_after_the_run_follows_its_end() -> None:
    group, _ = await request_and_end()
    await group.say(f"deny {group.keyword} she is nice", BOSS)
    assert ledger_decisions(group) == [("member.kick", "denied", "user:boss", "she is nice")]
    assert types(group)[-1] == "approval.decided"
    [run] = group.rows(RUNS)
    assert run["status"] == "completed"


@pytest.mark.parametrize("ends", [True, False], ids=["a run that ended", "an active run"])
async def test_expiry_is_written_to_the_ledger(ends: bool) -> None:
    group, _ = await (request_and_end() if ends else request_kick())
    await asyncio.sleep(1801)
    await group.calm()
    assert ledger_decisions(group) == [("member.kick", "expired", None, "nobody decided in time")]


async def test_decision_after_a_restart_is_written_to_the_ledger() -> None:
    group, _ = await request_kick()
    keyword = group.keyword
    group = await group.restart()
    await group.say(f"approve {keyword}", BOSS)
    await group.world.rest()
    assert ledger_decisions(group) == [("member.kick", "approved", "user:boss", None)]


async def test_decision_is_written_once_despite_a_crash() -> None:
    for turns in range(40):
        group, _ = await request_kick()
        keyword = group.keyword
        deciding = asyncio.create_task(group.say(f"approve {keyword}", BOSS, event_id="decision"))
        await settle(turns)
        deciding.cancel()
        group = await group.restart()
        await group.say(f"approve {keyword}", BOSS, event_id="decision")
        await group.world.rest()
        assert ledger_decisions(group) == [("member.kick", "approved", "user:boss", None)]


async def test_interrupted_run_and_expired_request_are_both_recorded() -> None:
    group, _ = await request_kick(journal=SlowEndings())
    for text in ("and", "then"):
        await group.say(text, ANN)
        await settle()
    group.world.journal.dead = True
    await asyncio.sleep(1801)
    group = await group.restart()
    await asyncio.sleep(10)
    assert ledger_decisions(group) == [("member.kick", "expired", None, "nobody decided in time")]
    assert types(group).count("steering.dropped") == 2
    assert sorted(run["status"] for run in group.rows(RUNS))[0] == "failed"


async def test_decision_during_the_end_of_the_run_has_its_own_sequence_number() -> None:
    group, run = await request_kick(journal=SlowEndings())
    for text in ("and", "then", "so"):
        await group.say(text, ANN)
        await settle()
    run.answer("asked")
    await settle()
    await decide(group)
    await asyncio.sleep(10)
    assert ledger_decisions(group) == APPROVED
    assert types(group).count("steering.dropped") == 3
    assert "run.completed" in types(group)


async def test_concurrent_decisions_after_the_run_are_all_written() -> None:
    group, _ = await request_and_end(times=5)
    await asyncio.gather(*(decide(group, row) for row in group.rows(APPROVALS)))
    assert ledger_decisions(group) == APPROVED * 5
    numbers = [row["sequence"] for row in events(group)]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


async def test_remote_run_continues_after_a_decision() -> None:
    group, run = await claim_remote_run(BreakableJournal())
    await decide(group)
    await run.say("two")
    await run.complete()
    await group.world.rest()
    assert ledger_decisions(group) == APPROVED
    assert types(group)[-1] == "run.completed"


async def test_remote_run_continues_after_a_restart_and_an_expiry() -> None:
    group, run = await claim_remote_run(SlowDecisions())
    group.world.journal.dead = True
    await asyncio.sleep(1801)
    group, run = await restart_with_claim(group, run)
    await asyncio.sleep(5)
    await run.say("two")
    await run.complete()
    await group.world.rest()
    assert ledger_decisions(group) == [("member.kick", "expired", None, "nobody decided in time")]
    assert types(group)[-1] == "run.completed"


async def test_decision_keeps_its_sequence_number_when_the_run_reads_its_progress() -> None:
    group, run = await claim_remote_run(SlowDecisions())
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
    assert ledger_decisions(group) == APPROVED


async def test_taken_sequence_number_does_not_undo_the_decision() -> None:
    journal = InterposingJournal()
    group, run = await request_and_end(journal=journal)
    journal.before = ledger.append_event(
        run.run_id, events(group)[-1]["sequence"] + 1, "test.note", {}, 0, source="host"
    )
    await decide(group)
    await group.world.rest()
    assert types(group)[-2:] == ["test.note", "approval.decided"]
    assert len(group.done("kick_member")) == 1


async def test_decision_about_a_deleted_run_writes_no_event() -> None:
    journal = InterposingJournal()
    group, run = await request_and_end(journal=journal)
    gone = where(run_id=run.run_id)
    await journal.commit(Unit("test.gone", (Delete(RUN_EVENTS, gone, expect=ANY),)))
    journal.before = Delete(RUNS, gone)
    await decide(group)
    await group.world.rest()
    assert group.rows(RUN_EVENTS) == []
    assert group.approval()["status"] == "approved"
    assert len(group.done("kick_member")) == 1


async def test_decision_about_a_deleted_conversation_restores_nothing() -> None:
    group, _ = await request_and_end(journal=SlowDecisions())
    deciding = asyncio.create_task(decide(group))
    await settle()
    [run] = group.rows(RUNS)
    await group.world.core.conversation_eraser.erase(run["conversation_id"], OPERATOR.participant)
    with pytest.raises(CallRejected, match="nothing was done"):
        await deciding
    assert group.rows(RUN_EVENTS) == []


async def test_decision_without_a_run_is_not_in_the_ledger() -> None:
    group, _ = await request_and_end()
    without_run = {**group.approval(), "approval_id": "without-run", "run_id": "", "keyword": "none"}
    await group.world.journal.commit(Unit("test.asked", (Insert(APPROVALS, without_run),)))
    await decide(group, without_run)
    assert ledger_decisions(group) == []
    assert [row["status"] for row in group.rows(APPROVALS) if not row["run_id"]] == ["approved"]


async def test_outcome_of_an_approved_action_is_written_when_the_database_recovers() -> None:
    group, run = await request_kick()
    group.world.journal.broken["approval.outcome"] = 1
    await group.say(f"approve {group.keyword}", BOSS)
    await until(lambda: loads(group.approval()["outcome"]).get("state") == "sent")
    run.answer("done")
    await group.world.rest()
    assert group.world.journal.broken["approval.outcome"] == 0
    assert len(group.done("kick_member")) == 1


class OvertakenJournal(BreakableJournal):
    """A journal in which the ledger of the run always grows before a decision."""

    left = 0

    async def commit(self, unit: Unit, on_prepared: PreparedCallback | None = None) -> Receipt:
        if unit.name == "approval.decide" and self.left:
            self.left -= 1
            raise GuardFailed(unit.name, len(unit.statements) - 1)
        return await super().commit(unit, on_prepared)


async def test_failed_expiry_is_retried() -> None:
    journal = OvertakenJournal()
    group, run = await request_kick(journal=journal)
    run.answer("done")
    await group.world.rest()
    journal.left = MAX_TRIES
    await until(lambda: group.approval()["status"] == "expired")
    assert journal.left == 0
    await group.world.rest()
