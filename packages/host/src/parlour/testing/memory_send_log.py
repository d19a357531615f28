"""Keeps the send log in memory: it survives a Host that is built again around it, as a file survives a kill."""

from collections.abc import Collection

from parlour.core.model.ids import OutboxId


class MemorySendLog:
    def __init__(self) -> None:
        self._open: dict[str, str | None] = {}
        self._lost = False

    def lose(self) -> None:
        """Simulates a power failure: noted sends can't be distinguished from others."""
        self._lost = True

    async def load(self, sending: Collection[str]) -> None:
        if self._lost:
            self._open = dict.fromkeys(sending)
            self._lost = False

    def was_started(self, outbox_id: OutboxId) -> bool:
        return outbox_id in self._open

    def message_id(self, outbox_id: OutboxId) -> str | None:
        return self._open.get(outbox_id)

    def record_start(self, outbox_id: OutboxId) -> None:
        self._open[outbox_id] = None

    def record_acknowledgement(self, outbox_id: OutboxId, message_id: str) -> None:
        self._open[outbox_id] = message_id

    def clear(self, outbox_id: OutboxId) -> None:
        self._open.pop(outbox_id, None)
