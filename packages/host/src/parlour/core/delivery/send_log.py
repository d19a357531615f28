"""Notes of what was handed to a platform and of what it answered, taken at once and without a wait for the disk.

A kill leaves rows as `sending` that never left, rows that were with the platform, and rows whose answer was on its way
to the database. These notes tell them apart where they outlived it. Where they are kept is others' business.
"""

from collections.abc import Collection
from typing import Protocol


class Handovers(Protocol):
    async def take_up(self, sending: Collection[str]) -> None:
        """At the start, with the rows that somebody who is gone was sending."""
        ...

    def begun(self, outbox_id: str) -> bool:
        """False only for a row that has certainly never left."""
        ...

    def answer(self, outbox_id: str) -> str | None:
        """The platform's id of a message that it is known to have taken."""
        ...

    def begin(self, outbox_id: str) -> None:
        """It is handed over now."""
        ...

    def answered(self, outbox_id: str, message_id: str) -> None: ...

    def settle(self, outbox_id: str) -> None:
        """The row itself says how it ended: its notes are not needed any more."""
        ...


class NoHandovers:
    """Nothing is noted, so nothing is certain."""

    async def take_up(self, sending: Collection[str]) -> None:
        """There is nobody to remember them."""

    def begun(self, outbox_id: str) -> bool:
        return True

    def answer(self, outbox_id: str) -> str | None:
        return None

    def begin(self, outbox_id: str) -> None:
        """It is forgotten."""

    def answered(self, outbox_id: str, message_id: str) -> None:
        """It is forgotten."""

    def settle(self, outbox_id: str) -> None:
        """There is nothing to forget."""
