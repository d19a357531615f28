"""What the bot sent, as far as it is remembered: its own messages, and the parts of a send that was cut short."""

from collections import OrderedDict
from typing import Any

from .segments import segments_of

MOST = 10_000


class OwnMessages:
    def __init__(self) -> None:
        self._ids: OrderedDict[str, None] = OrderedDict()
        self._parts: OrderedDict[str, list[str]] = OrderedDict()

    def sent(self, message_id: str) -> None:
        self._ids[message_id] = None
        if len(self._ids) > MOST:
            self._ids.popitem(last=False)

    def parts(self, key: str | None) -> list[str]:
        """The ids of the parts that went out under this key; a second try goes on after them."""
        if key is None:
            return []
        if len(self._parts) >= MOST:
            self._parts.popitem(last=False)
        return self._parts.setdefault(key, [])

    def done(self, key: str | None) -> None:
        self._parts.pop(key or "", None)

    def quoted_in(self, payload: dict[str, Any]) -> bool:
        if not self._ids or payload.get("post_type") != "message":
            return False
        try:
            segments = segments_of(payload.get("message"))
        except ValueError:
            return False
        return any(self._answers(segment) for segment in segments)

    def _answers(self, segment: Any) -> bool:
        if not isinstance(segment, dict) or segment.get("type") != "reply":
            return False
        data = segment.get("data")
        return isinstance(data, dict) and str(data.get("id")) in self._ids
