"""Small JSON values that outlive the run."""

from typing import Any

from parlour_sdk.protocol.results import StateScope
from parlour_sdk.protocol.run_api import Done, StateKeys, StateValue

from .calls import RunCalls


class StateAPI:
    def __init__(self, calls: RunCalls) -> None:
        self._calls = calls

    async def get(self, scope: StateScope, key: str, default: Any = None) -> Any:
        answer = await self._calls.call("state_get", StateValue, scope=scope, key=key)
        return answer.value if answer.found else default

    async def set(self, scope: StateScope, key: str, value: Any) -> None:
        await self._calls.call("state_set", Done, scope=scope, key=key, value=value)

    async def delete(self, scope: StateScope, key: str) -> None:
        await self._calls.call("state_delete", Done, scope=scope, key=key)

    async def list(self, scope: StateScope, prefix: str | None = None) -> StateKeys:
        return await self._calls.call("state_list", StateKeys, scope=scope, prefix=prefix)
