"""Actions for the state scopes of a run. The gate has checked that the scope belongs to the run."""

from parlour.core.journal import Journal, Unit
from parlour.core.model.ports import Clock
from parlour.core.runs.caller import ActionCaller
from parlour.core.store import ledger, state
from parlour.core.store.state import StateStore
from parlour_sdk.protocol.calls import Done
from parlour_sdk.protocol.limits import STATE_LIST_KEYS
from parlour_sdk.protocol.state import StateDelete, StateGet, StateKeys, StateList, StateSet, StateValue

from .handlers import Handler


class StateActions:
    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._state = StateStore(journal)
        self._clock = clock

    def handlers(self) -> dict[str, Handler]:
        return {
            "state_get": self.get,
            "state_set": self.set,
            "state_delete": self.delete,
            "state_list": self.list,
        }

    async def get(self, caller: ActionCaller, request: StateGet) -> StateValue:
        exists, value = await self._state.get(caller.grant.scopes[request.scope], request.key)
        return StateValue(found=exists, value=value)

    async def set(self, caller: ActionCaller, request: StateSet) -> Done:
        now = self._clock.now()
        write = state.put(caller.grant.scopes, request.scope, request.key, request.value, now)
        progress = ledger.update_progress(caller.run_session.run_id, now, has_effects=caller.run_session.mark_effect())
        await self._journal.commit(Unit("state.set", (progress, write)))
        return Done()

    async def delete(self, caller: ActionCaller, request: StateDelete) -> Done:
        now = self._clock.now()
        removal = state.remove(caller.grant.scopes, request.scope, request.key)
        progress = ledger.update_progress(caller.run_session.run_id, now, has_effects=caller.run_session.mark_effect())
        await self._journal.commit(Unit("state.delete", (progress, removal)))
        return Done()

    async def list(self, caller: ActionCaller, request: StateList) -> StateKeys:
        key = caller.grant.scopes[request.scope]
        names = await self._state.names(key, request.prefix or "", STATE_LIST_KEYS + 1)
        return StateKeys(keys=names[:STATE_LIST_KEYS], has_more=len(names) > STATE_LIST_KEYS)
