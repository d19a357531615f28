"""A send log of a Host in a cluster: it knows the sends of this process, and nothing about those of other Hosts."""

from collections.abc import Collection

from parlour.core.model.ids import OutboxId


class ProcessSendLog:
    """Keeps the log in memory. Sends that another process began count as started, so they are resolved as uncertain."""

    def __init__(self) -> None:
        self._unfinished: dict[str, str | None] = {}
        """Message id that the platform acknowledged, by the id of the outbox row; None before the acknowledgement."""

    async def load(self, outbox_ids: Collection[str]) -> None:
        """Counts rows as started that this Host takes over while they are `sending`."""
        self._unfinished |= {each: None for each in outbox_ids if each not in self._unfinished}

    def was_started(self, outbox_id: OutboxId) -> bool:
        return outbox_id in self._unfinished

    def message_id(self, outbox_id: OutboxId) -> str | None:
        return self._unfinished.get(outbox_id)

    def record_start(self, outbox_id: OutboxId) -> None:
        self._unfinished[outbox_id] = None

    def record_acknowledgement(self, outbox_id: OutboxId, message_id: str) -> None:
        self._unfinished[outbox_id] = message_id

    def clear(self, outbox_id: OutboxId) -> None:
        self._unfinished.pop(outbox_id, None)
