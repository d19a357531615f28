"""Writes, reads and deletes rows of the table of model calls. `core/runs/model_call_log` collects them."""

from parlour.core.journal import ANY, Delete, Insert, Journal, Row, Select, where
from parlour.core.model.ids import ModelId, RunId
from parlour_sdk.values import dataclass

from .tables import MODEL_CALLS


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request to a model with its answer."""

    call_id: str
    run_id: RunId
    actor_type: str
    actor_id: str
    """The sender of the event that the run answers."""
    model_id: ModelId
    outcome: str
    request: str
    """JSON with `messages`, `tools` and `parameters`; `texts` of an embedding; `query` and `documents` of a rerank."""
    answer: str
    """JSON with `message` and `finish_reason`, or `error`."""
    truncated: bool
    """True if a part of the request or the answer was left out because of its size."""
    created_at: int
    finished_at: int

    def insert(self) -> Insert:
        values = {name: getattr(self, name) for name in MODEL_CALLS.column_names}
        return Insert(MODEL_CALLS, {**values, "truncated": int(self.truncated)}, conflict="ignore")


def remove_for_actor(actor_type: str, actor_id: str) -> Delete:
    return Delete(MODEL_CALLS, where(actor_type=actor_type, actor_id=actor_id), expect=ANY)


class ModelCalls:
    """Reads model calls."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def get(self, run_id: RunId, call_id: str) -> Row | None:
        """Returns the call only if it belongs to this run."""
        query = Select(MODEL_CALLS, where(call_id=call_id, run_id=run_id), limit=1, point_read=True)
        rows = await self._journal.read(query)
        return rows[0] if rows else None
