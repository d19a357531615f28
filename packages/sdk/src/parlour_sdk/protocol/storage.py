"""Blobs by area and key, for what outgrows state."""

from typing import Literal

from .base import Key, Strict, Tolerant
from .calls import Call

StorageArea = Literal["plugin", "workspace", "binding"]


class StorageGet(Call):
    """Asks for one blob."""

    area: StorageArea
    key: Key


class StorageSet(Call):
    """Sets one blob."""

    area: StorageArea
    key: Key
    content_base64: str


class StorageDelete(Call):
    """Forgets one blob."""

    area: StorageArea
    key: Key


class StorageList(Call):
    """Asks which keys there are."""

    area: StorageArea
    prefix: str | None = None


class StorageValue(Tolerant):
    """One blob; `found` says whether there is one."""

    found: bool
    content_base64: str | None = None


class StorageKeys(Strict):
    """A page of keys."""

    keys: list[str]
    has_more: bool = False
