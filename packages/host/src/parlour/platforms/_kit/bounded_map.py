"""A dictionary that forgets its oldest entries, for what an adapter remembers about chats, users and messages."""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")
MAX_ENTRIES = 10_000


class BoundedMap(Generic[Key, Value]):
    """Holds the entries that were set last."""

    def __init__(self, max_entries: int = MAX_ENTRIES) -> None:
        self._entries: OrderedDict[Key, Value] = OrderedDict()
        self._max_entries = max_entries

    def __contains__(self, key: Key) -> bool:
        return key in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> Value | None:
        return self._entries.get(key)

    def set(self, key: Key, value: Value) -> None:
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > self._max_entries:
            self._entries.popitem(last=False)

    def pop(self, key: Key) -> Value | None:
        return self._entries.pop(key, None)

    def pop_oldest(self) -> None:
        """Forgets the entry that was set first, if there is one."""
        if self._entries:
            self._entries.popitem(last=False)

    def values(self) -> Iterable[Value]:
        return self._entries.values()

    def items(self) -> Iterable[tuple[Key, Value]]:
        return self._entries.items()

    def clear(self) -> None:
        self._entries.clear()
