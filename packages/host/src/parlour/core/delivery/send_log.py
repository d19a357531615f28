"""Logs which sends were started and acknowledged, immediately and without waiting for the disk.

A kill leaves three kinds of rows in state `sending`: never sent, sent without acknowledgement, and acknowledged but not
yet stored. If the log survives the kill, it distinguishes them. Implementations decide where it is stored.
"""

from collections.abc import Collection
from typing import Protocol

from parlour.core.model.ids import OutboxId


class SendLog(Protocol):
    """Port of the send log."""

    async def load(self, outbox_ids: Collection[str]) -> None:
        """Loads the log at startup, for rows that an earlier process was sending."""
        ...

    def was_started(self, outbox_id: OutboxId) -> bool:
        """Returns whether the send may have been started. False only if the row certainly was not sent."""
        ...

    def message_id(self, outbox_id: OutboxId) -> str | None:
        """Returns the platform's message id of an acknowledged send; None if no acknowledgement is known."""
        ...

    def record_start(self, outbox_id: OutboxId) -> None:
        """Records that a send starts now."""
        ...

    def record_acknowledgement(self, outbox_id: OutboxId, message_id: str) -> None: ...

    def clear(self, outbox_id: OutboxId) -> None:
        """Removes the entries of a row whose state is stored."""
        ...


class NullSendLog:
    """A send log that records nothing, so every interrupted send is uncertain."""

    async def load(self, outbox_ids: Collection[str]) -> None:
        """Does nothing."""

    def was_started(self, outbox_id: OutboxId) -> bool:
        return True

    def message_id(self, outbox_id: OutboxId) -> str | None:
        return None

    def record_start(self, outbox_id: OutboxId) -> None:
        """Does nothing."""

    def record_acknowledgement(self, outbox_id: OutboxId, message_id: str) -> None:
        """Does nothing."""

    def clear(self, outbox_id: OutboxId) -> None:
        """Does nothing."""
