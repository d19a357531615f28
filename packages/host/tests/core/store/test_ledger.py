"""The ledger allows only the transitions of the control plane and numbers events of a run once."""

from itertools import product
from typing import get_args

import pytest

from parlour.core.journal import GuardFailed, Row, Select, Unit, Update, where
from parlour.core.store import ledger
from parlour.core.store.ledger import ACTIVE_STATUSES, Ledger, NewRun, RunStatus
from parlour.core.store.tables import RUN_EVENTS, RUNS
from parlour.testing import MemoryJournal

STATUSES = get_args(RunStatus)
TABLE = {
    "created": {"queued", "running", "cancelled", "failed"},
    "queued": {"claimed", "cancelled", "timeout"},
    "claimed": {"running", "queued", "cancelled", "failed", "timeout"},
    "running": {"waiting_approval", "completed", "failed", "cancelled", "timeout"},
    "waiting_approval": {"running", "cancelled", "timeout", "failed"},
}
"""Allowed transitions, repeated from `control-plane.md`."""

RUN = NewRun(
    run_id="run",
    event_seq=1,
    event_id="event",
    agent_id="agent",
    binding_id="agent:",
    runner_id="plugin:acme/puppet/default",
    plugin_id="acme/puppet",
    conversation_id="conversation",
    thread_id="",
    workspace_id="default",
    bot_id="",
    attempt=1,
    parent_run_id="",
    snapshot="{}",
    deadline_at=0,
    now=1000,
)


async def open_journal(status: str = "running") -> MemoryJournal:
    journal = MemoryJournal()
    prepare = Update(RUNS, {"status": status}, where(run_id="run"))
    await journal.commit(Unit("open", (ledger.insert_run(RUN), prepare)))
    return journal


async def row(journal: MemoryJournal) -> Row:
    found = await Ledger(journal).get_run("run")
    assert found is not None
    return found


def end(status: RunStatus) -> Unit:
    end = ledger.RunEnd(status, "because", "a sentence", {"prompt_tokens": 1}, cancel_requested_at=7)
    return Unit("end", (ledger.end_run("run", end, 2000),))


@pytest.mark.parametrize(("source", "target"), list(product(STATUSES, STATUSES)), ids=lambda status: status)
async def test_transition_succeeds_only_if_allowed(source: str, target: RunStatus) -> None:
    journal = await open_journal(source)
    before = await row(journal)
    if target in TABLE.get(source, set()):
        await journal.commit(end(target))
        after = await row(journal)
        assert (after["status"], after["status_reason"], after["finished_at"]) == (target, "because", 2000)
    else:
        with pytest.raises(GuardFailed):
            await journal.commit(end(target))
        assert await row(journal) == before


@pytest.mark.parametrize("status", STATUSES)
async def test_only_a_running_run_may_write(status: str) -> None:
    journal = await open_journal(status)
    write = Unit(
        "write", (ledger.update_progress("run", 3000), ledger.append_event("run", 1, "mood.changed", {}, 3000))
    )
    if status == "running":
        await journal.commit(write)
        assert await Ledger(journal).last_sequence("run") == 1
    else:
        with pytest.raises(GuardFailed):
            await journal.commit(write)
        assert await Ledger(journal).last_sequence("run") == 0


def test_final_status_is_not_active() -> None:
    assert set(ACTIVE_STATUSES) == set(TABLE)


async def test_shown_and_effects_flags_are_never_reset() -> None:
    journal = await open_journal()
    await journal.commit(Unit("show", (ledger.update_progress("run", 1, has_output=True),)))
    await journal.commit(Unit("act", (ledger.update_progress("run", 2, has_effects=True),)))
    await journal.commit(Unit("go on", (ledger.update_progress("run", 3),)))
    now = await row(journal)
    assert (now["shown"], now["effects"], now["updated_at"]) == (1, 1, 3)


async def test_sequence_number_is_used_once() -> None:
    journal = await open_journal()
    await journal.commit(Unit("one", (ledger.append_event("run", 1, "a", {}, 1),)))
    with pytest.raises(GuardFailed):
        await journal.commit(Unit("again", (ledger.append_event("run", 1, "b", {}, 1),)))
    assert [each["type"] for each in await journal.read(Select(RUN_EVENTS))] == ["a"]


async def test_missing_run_is_none() -> None:
    assert await Ledger(MemoryJournal()).get_run("missing") is None
    assert await Ledger(MemoryJournal()).last_sequence("missing") == 0
