"""Removes secrets, ids and names of a probe from what it prints and records."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from parlour.core.redaction import Redactor

ID_FIELDS = frozenset(
    ("id", "chat_id", "message_id", "user_id", "group_id", "target", "target_id", "sender_id", "operator_id",
     "request_id", "interaction_id", "event_id", "nickname", "username", "name", "display", "avatar_url", "url")
)  # fmt: skip
MIN_CHARACTERS = 4
"""Shorter values also occur inside ordinary words."""


class ProbeRedaction:
    """Replaces what it has learned by a mask; a value keeps its number, so that a transcript can be followed."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._redactor = Redactor()
        self._numbers: dict[str, int] = {}
        for secret in secrets:
            self._redactor.add_secret(secret)

    def learn(self, event: Any) -> None:
        """Learns the ids and names in an event or an answer."""
        match event:
            case Mapping():
                for name, value in event.items():
                    if name in ID_FIELDS and isinstance(value, str | int) and not isinstance(value, bool):
                        self._add(str(value))
                    self.learn(value)
            case list() | tuple():
                for each in event:
                    self.learn(each)

    def __call__(self, text: str) -> str:
        for value in sorted(self._numbers, key=len, reverse=True):
            text = re.sub(rf"(?<![\w]){re.escape(value)}(?![\w])", f"<id {self._numbers[value]}>", text)
        return self._redactor.redact(text)

    def _add(self, value: str) -> None:
        if len(value) >= MIN_CHARACTERS:
            self._numbers.setdefault(value, len(self._numbers) + 1)
