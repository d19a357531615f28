"""State of a rerun: where its history ends, and copies of what it would change, which are discarded with it."""

from dataclasses import field
from typing import Any

from parlour.core.errors import CallRejected
from parlour.core.journal import Condition, at_most, where
from parlour.core.model.resource_policy import Selection
from parlour_sdk.values import dataclass

StorageCopy = dict[tuple[str, str], bytes | None]
"""Storage values by area and key; None for a deleted one."""


MAX_COPY_BYTES = 16 * 1024 * 1024
"""Maximum bytes that a rerun may write into its copies in total, because they are kept in memory."""


@dataclass(slots=True)
class DryRunState:
    """The limits and copies with which a rerun executes."""

    rerun_of: str
    event_seq: int
    event_at: int
    transcript_seq: int
    """Number of the event's own transcript item; zero if that is no longer stored."""
    effects: Selection
    """Tools that may run although they are not read-only."""
    state: dict[str, dict[str, Any]]
    storage: StorageCopy = field(default_factory=dict)
    written: int = 0

    def count_bytes(self, size: int) -> None:
        """Counts bytes that are written into the copies. Raises Refused beyond the limit."""
        self.written += size
        if self.written > MAX_COPY_BYTES:
            raise CallRejected(
                "payload_too_large", f"a rerun writes at most {MAX_COPY_BYTES // 1024} KiB of state and storage"
            )

    def transcript_until(self, own_conversation: bool) -> tuple[Condition, ...]:
        """Returns conditions for transcript items that the event's first run could have found."""
        if own_conversation and self.transcript_seq:
            return where(seq=at_most(self.transcript_seq))
        return where(created_at=at_most(self.event_at))

    def events_until(self) -> tuple[Condition, ...]:
        return where(seq=at_most(self.event_seq))
