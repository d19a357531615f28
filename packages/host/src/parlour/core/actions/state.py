"""Actions for the state scopes of a run. The gate has checked that the scope belongs to the run."""

from parlour.core.journal import Journal, Unit
from parlour.core.model.ports import Clock
from parlour.core.runs.caller import Caller
from parlour.core.store import ledger, state
from parlour.core.store.state import State
from parlour_sdk.protocol.calls import Done
from parlour_sdk.protocol.limits import STATE_LIST_KEYS
from parlour_sdk.protocol.state import StateDelete, StateGet, StateKeys, StateList, StateSet, StateValue


class StateActions:
    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._state = State(journal)
        self._clock = clock

    async def get(self, caller: Caller, request: StateGet) -> StateValue:
        found, value = await self._state.get(caller.grant.scopes[request.scope], request.key)
        return StateValue(found=found, value=value)

    async def set(self, caller: Caller, request: StateSet) -> Done:
        now = self._clock.now()
        write = state.put(caller.grant.scopes, request.scope, request.key, request.value, now)
        touch = ledger.touch(caller.run.run_id, now, effects=caller.run.act())
        await self._journal.commit(Unit("state.set", (touch, write)))
        return Done()

    async def delete(self, caller: Caller, request: StateDelete) -> Done:
        now = self._clock.now()
        removal = state.remove(caller.grant.scopes, request.scope, request.key)
        touch = ledger.touch(caller.run.run_id, now, effects=caller.run.act())
        await self._journal.commit(Unit("state.delete", (touch, removal)))
        return Done()

    async def list(self, caller: Caller, request: StateList) -> StateKeys:
        key = caller.grant.scopes[request.scope]
        names = await self._state.names(key, request.prefix or "", STATE_LIST_KEYS + 1)
        return StateKeys(keys=names[:STATE_LIST_KEYS], has_more=len(names) > STATE_LIST_KEYS)
