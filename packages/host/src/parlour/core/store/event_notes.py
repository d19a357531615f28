"""Decisions about an event that no other fact tells. Once per event and step: the last time counts."""

from typing import Any

from parlour.core.encoding import dumps
from parlour.core.journal import Insert, Upsert

from .tables import TRAIL

OUTBOX_IDS = "outbox_ids"
"""Among what is noted: the rows of the outbox that came of it, where no run has them."""


def note(event_seq: int, step: str, data: dict[str, Any], now: int) -> Insert:
    row: dict[str, str | int] = {
        "entry_id": f"{event_seq}:{step}",
        "event_seq": event_seq,
        "step": step,
        "data": dumps(data),
        "created_at": now,
    }
    return Insert(TRAIL, {**row}, conflict=Upsert(("entry_id",), ("data", "created_at")))
