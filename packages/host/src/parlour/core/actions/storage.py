"""Actions for binary values by area and key. The gate has checked that the caller may use the area."""

import base64
import binascii

from parlour.core.errors import CallRejected
from parlour.core.runs.caller import ActionCaller
from parlour.core.store.storage import Quotas, Storage
from parlour_sdk.protocol.calls import Done
from parlour_sdk.protocol.limits import STATE_LIST_KEYS, STORAGE_VALUE_BYTES
from parlour_sdk.protocol.storage import (
    StorageDelete,
    StorageGet,
    StorageKeys,
    StorageList,
    StorageSet,
    StorageValue,
)

from .handlers import Handler


class StorageActions:
    def __init__(self, storage: Storage, quotas: Quotas) -> None:
        self._storage = storage
        self._quotas = quotas

    def handlers(self) -> dict[str, Handler]:
        return {
            "storage_get": self.get,
            "storage_set": self.set,
            "storage_delete": self.delete,
            "storage_list": self.list,
        }

    async def get(self, caller: ActionCaller, request: StorageGet) -> StorageValue:
        value = await self._storage.get(request.area, caller.grant.storage[request.area], request.key)
        if value is None:
            return StorageValue(found=False)
        return StorageValue(found=True, content_base64=base64.b64encode(value).decode())

    async def set(self, caller: ActionCaller, request: StorageSet) -> Done:
        value = _decoded(request.content_base64)
        owner = caller.grant.storage[request.area]
        other_bytes = await self._storage.used_bytes(request.area, owner, request.key)
        if other_bytes + len(value) > self._quotas[request.area]:
            limit = f"the storage area '{request.area}' holds at most {self._quotas[request.area] // 1024} KiB"
            raise CallRejected("payload_too_large", f"{limit}; delete something first")
        await self._storage.set(request.area, owner, request.key, value, run=caller.session)
        return Done()

    async def delete(self, caller: ActionCaller, request: StorageDelete) -> Done:
        await self._storage.delete(request.area, caller.grant.storage[request.area], request.key, run=caller.session)
        return Done()

    async def list(self, caller: ActionCaller, request: StorageList) -> StorageKeys:
        owner = caller.grant.storage[request.area]
        names = await self._storage.names(request.area, owner, request.prefix or "", STATE_LIST_KEYS + 1)
        return StorageKeys(keys=names[:STATE_LIST_KEYS], has_more=len(names) > STATE_LIST_KEYS)


def _decoded(content: str) -> bytes:
    try:
        value = base64.b64decode(content, validate=True)
    except binascii.Error:
        raise CallRejected("invalid_argument", "content_base64 is not base64") from None
    if len(value) > STORAGE_VALUE_BYTES:
        raise CallRejected("payload_too_large", f"a value has at most {STORAGE_VALUE_BYTES} bytes")
    return value
