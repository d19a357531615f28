"""Reads and writes state: small JSON values that outlast the run."""

from typing import Any

from parlour_sdk.protocol.calls import Done
from parlour_sdk.protocol.state import StateDelete, StateGet, StateKeys, StateList, StateScope, StateSet, StateValue

from .calls import Namespace


class StateAPI(Namespace):
    async def get(self, scope: StateScope, key: str, default: Any = None) -> Any:
        answer = await self._calls.call("state_get", StateGet, StateValue, scope=scope, key=key)
        return answer.value if answer.found else default

    async def set(self, scope: StateScope, key: str, value: Any) -> None:
        await self._calls.call("state_set", StateSet, Done, scope=scope, key=key, value=value)

    async def delete(self, scope: StateScope, key: str) -> None:
        await self._calls.call("state_delete", StateDelete, Done, scope=scope, key=key)

    async def list(self, scope: StateScope, prefix: str | None = None) -> StateKeys:
        return await self._calls.call("state_list", StateList, StateKeys, scope=scope, prefix=prefix)
