"""Reads and writes storage: binary values by area and key, for data that is too large for state."""

from base64 import b64decode, b64encode

from parlour_sdk.protocol.calls import Done
from parlour_sdk.protocol.limits import STORAGE_VALUE_BYTES
from parlour_sdk.protocol.storage import (
    StorageArea,
    StorageDelete,
    StorageGet,
    StorageKeys,
    StorageList,
    StorageSet,
    StorageValue,
)

from .calls import InvalidCall, Namespace, refusal


class StorageAPI(Namespace):
    async def get(self, area: StorageArea, key: str) -> bytes | None:
        answer = await self._calls.call("storage_get", StorageGet, StorageValue, area=area, key=key)
        return b64decode(answer.content_base64 or "") if answer.found else None

    async def set(self, area: StorageArea, key: str, content: bytes) -> None:
        if not isinstance(content, bytes | bytearray):
            raise InvalidCall(f"storage_set: content: give bytes, not {type(content).__name__}; a text has .encode()")
        if len(content) > STORAGE_VALUE_BYTES:
            raise refusal("payload_too_large", f"storage_set takes at most {STORAGE_VALUE_BYTES} bytes")
        encoded = b64encode(content).decode()
        await self._calls.call("storage_set", StorageSet, Done, area=area, key=key, content_base64=encoded)

    async def delete(self, area: StorageArea, key: str) -> None:
        await self._calls.call("storage_delete", StorageDelete, Done, area=area, key=key)

    async def list(self, area: StorageArea, prefix: str | None = None) -> StorageKeys:
        return await self._calls.call("storage_list", StorageList, StorageKeys, area=area, prefix=prefix)
