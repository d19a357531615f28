"""Serves state and storage in memory, with the Host's scopes and limits."""

import base64
import binascii
import copy
from collections.abc import Mapping
from typing import Any

from parlour_sdk.protocol.calls import Done
from parlour_sdk.protocol.limits import STATE_LIST_KEYS, STORAGE_VALUE_BYTES
from parlour_sdk.protocol.state import StateDelete, StateGet, StateKeys, StateList, StateSet, StateValue
from parlour_sdk.protocol.storage import (
    StorageDelete,
    StorageGet,
    StorageKeys,
    StorageList,
    StorageSet,
    StorageValue,
)

from ..gate import Handler
from ..grants import StateKey
from ..script import Failure
from ..sessions import Caller


class State:
    """Stores values by scope and the ids that belong to it. `given` has the initial values."""

    def __init__(self, given: Mapping[str, Mapping[str, Any]]) -> None:
        self._initial = {scope: dict(values) for scope, values in given.items()}
        self._scopes: dict[StateKey, dict[str, Any]] = {}

    def handlers(self) -> dict[str, Handler]:
        return {
            "state_get": self._get,
            "state_set": self._set,
            "state_delete": self._delete,
            "state_list": self._list,
        }

    def snapshot(self, scopes: Mapping[str, StateKey]) -> dict[str, dict[str, Any]]:
        return {scope: copy.deepcopy(self._values(key)) for scope, key in scopes.items()}

    def write(self, key: StateKey, name: str, value: Any) -> None:
        self._values(key)[name] = copy.deepcopy(value)

    async def _get(self, caller: Caller, request: StateGet) -> StateValue:
        values = self._values(caller.grant.scopes[request.scope])
        return StateValue(found=request.key in values, value=copy.deepcopy(values.get(request.key)))

    async def _set(self, caller: Caller, request: StateSet) -> Done:
        self.write(caller.grant.scopes[request.scope], request.key, request.value)
        return Done()

    async def _delete(self, caller: Caller, request: StateDelete) -> Done:
        self._values(caller.grant.scopes[request.scope]).pop(request.key, None)
        return Done()

    async def _list(self, caller: Caller, request: StateList) -> StateKeys:
        keys, has_more = _keys(self._values(caller.grant.scopes[request.scope]), request.prefix)
        return StateKeys(keys=keys, has_more=has_more)

    def _values(self, key: StateKey) -> dict[str, Any]:
        if key not in self._scopes:
            self._scopes[key] = self._initial.pop(key[0], {})
        return self._scopes[key]


class Storage:
    """Stores binary values by area; a test can read them from `areas`."""

    def __init__(self, areas: Mapping[str, Mapping[str, bytes]]) -> None:
        self.areas: dict[str, dict[str, bytes]] = {
            area: dict(areas.get(area, {})) for area in ("plugin", "workspace", "binding")
        }

    def handlers(self) -> dict[str, Handler]:
        return {
            "storage_get": self._get,
            "storage_set": self._set,
            "storage_delete": self._delete,
            "storage_list": self._list,
        }

    async def _get(self, caller: Caller, request: StorageGet) -> StorageValue:
        content = self.areas[request.area].get(request.key)
        if content is None:
            return StorageValue(found=False)
        return StorageValue(found=True, content_base64=base64.b64encode(content).decode())

    async def _set(self, caller: Caller, request: StorageSet) -> Done:
        content = decode_base64(request.content_base64)
        if len(content) > STORAGE_VALUE_BYTES:
            raise Failure("payload_too_large", f"a value has at most {STORAGE_VALUE_BYTES} bytes").exception()
        self.areas[request.area][request.key] = content
        return Done()

    async def _delete(self, caller: Caller, request: StorageDelete) -> Done:
        self.areas[request.area].pop(request.key, None)
        return Done()

    async def _list(self, caller: Caller, request: StorageList) -> StorageKeys:
        keys, has_more = _keys(self.areas[request.area], request.prefix)
        return StorageKeys(keys=keys, has_more=has_more)


def decode_base64(content: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except binascii.Error:
        raise Failure("invalid_argument", "content_base64 is not base64").exception() from None


def _keys(values: Mapping[str, Any], prefix: str | None) -> tuple[list[str], bool]:
    names = sorted(name for name in values if name.startswith(prefix or ""))
    return names[:STATE_LIST_KEYS], len(names) > STATE_LIST_KEYS
