"""Notes about decisions on an event that no other table records. One per event and step: the latest replaces others."""

from typing import Any

from parlour.core.encoding import dumps
from parlour.core.journal import Insert, Upsert

from .tables import TRAIL

OUTBOX_IDS = "outbox_ids"
"""Key in a note's data: the outbox rows that resulted from the decision, if they belong to no run."""


def add_note(event_seq: int, step: str, data: dict[str, Any], now: int) -> Insert:
    """Builds the statement that inserts or replaces the note of a step."""
    row: dict[str, str | int] = {
        "entry_id": f"{event_seq}:{step}",
        "event_seq": event_seq,
        "step": step,
        "data": dumps(data),
        "created_at": now,
    }
    return Insert(TRAIL, {**row}, conflict=Upsert(("entry_id",), ("data", "created_at")))
