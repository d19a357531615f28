"""State in the scopes of a run: read, written, deleted, listed, and counted as an effect."""

from typing import Any

import pytest

from parlour.core.actions.state import StateActions
from parlour.core.journal import GuardFailed, Unit, Update, where
from parlour.core.model.ports import Clock
from parlour.core.runs.caller import ActionCaller
from parlour.core.store.ledger import Ledger
from parlour.core.store.tables import RUNS
from parlour.testing import MemoryJournal
from parlour_sdk.protocol.limits import STATE_LIST_KEYS
from parlour_sdk.protocol.state import StateDelete, StateGet, StateList, StateScope, StateSet

HEAD: dict[str, Any] = {"run_id": "run", "call_id": "run:1"}


@pytest.fixture
def state(journal: MemoryJournal, clock: Clock) -> StateActions:
    return StateActions(journal, clock)


async def put(state: StateActions, caller: ActionCaller, key: str, value: Any, scope: StateScope = "actor") -> None:
    await state.set(caller, StateSet(**HEAD, scope=scope, key=key, value=value))


async def get(state: StateActions, caller: ActionCaller, key: str, scope: StateScope = "actor") -> tuple[bool, Any]:
    answer = await state.get(caller, StateGet(**HEAD, scope=scope, key=key))
    return answer.found, answer.value


@pytest.mark.parametrize("value", [None, False, 0, 1.5, "", "é", [], {"a": [None, {"b": 1}]}], ids=repr)
async def test_value_is_read_back_as_written(state: StateActions, caller: ActionCaller, value: Any) -> None:
    await put(state, caller, "k", value)
    assert await get(state, caller, "k") == (True, value)


async def test_missing_value_is_not_found(state: StateActions, caller: ActionCaller) -> None:
    assert await get(state, caller, "k") == (False, None)


async def test_later_value_replaces_the_earlier_one(state: StateActions, caller: ActionCaller) -> None:
    await put(state, caller, "k", 1)
    await put(state, caller, "k", 2)
    assert await get(state, caller, "k") == (True, 2)


async def test_scopes_do_not_share_keys(state: StateActions, caller: ActionCaller) -> None:
    await put(state, caller, "k", 1, "actor")
    assert await get(state, caller, "k", "conversation") == (False, None)


async def test_deleted_value_is_gone_and_repeated_deletion_succeeds(state: StateActions, caller: ActionCaller) -> None:
    await put(state, caller, "k", 1)
    for _ in range(2):
        await state.delete(caller, StateDelete(**HEAD, scope="actor", key="k"))
    assert await get(state, caller, "k") == (False, None)


async def test_keys_are_listed_by_prefix_in_order(state: StateActions, caller: ActionCaller) -> None:
    for key in ("b.2", "a", "b.1", "b"):
        await put(state, caller, key, 1)
    assert (await state.list(caller, StateList(**HEAD, scope="actor", prefix="b."))).keys == ["b.1", "b.2"]
    assert (await state.list(caller, StateList(**HEAD, scope="actor"))).keys == ["a", "b", "b.1", "b.2"]


async def test_long_list_is_cut_and_reports_more(state: StateActions, caller: ActionCaller) -> None:
    for number in range(STATE_LIST_KEYS):
        await put(state, caller, f"{number:03}", 1)
    assert not (await state.list(caller, StateList(**HEAD, scope="actor"))).has_more
    await put(state, caller, "zzz", 1)
    listed = await state.list(caller, StateList(**HEAD, scope="actor"))
    assert listed.has_more
    assert len(listed.keys) == STATE_LIST_KEYS
    assert "zzz" not in listed.keys


async def test_write_is_an_effect_in_the_session_and_the_ledger(
    state: StateActions, caller: ActionCaller, journal: MemoryJournal
) -> None:
    await get(state, caller, "k")
    assert not caller.run_session.has_effects
    await put(state, caller, "k", 1)
    run = await Ledger(journal).get_run("run")
    assert caller.run_session.has_effects
    assert run is not None
    assert run["effects"] == 1


async def test_ended_run_cannot_write(state: StateActions, caller: ActionCaller, journal: MemoryJournal) -> None:
    await journal.commit(Unit("end", (Update(RUNS, {"status": "failed"}, where(run_id="run")),)))
    with pytest.raises(GuardFailed):
        await put(state, caller, "k", 1)
    assert await get(state, caller, "k") == (False, None)
