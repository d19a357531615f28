"""Finds what a run's searches of knowledge bases found, so that its rerun can get the same passages."""

from collections.abc import Sequence

from parlour.core.encoding import loads
from parlour.core.journal import Journal, Select, where
from parlour.core.model.ids import RunId
from parlour.core.model.providers import RecordedPassage
from parlour.core.store.tables import RUN_EVENTS
from parlour_sdk.values import dataclass

SEARCH_EVENT = "knowledge.retrieved"
MAX_RECORDED_QUERY = 500
"""Characters of a query that the ledger keeps."""


@dataclass(frozen=True, slots=True)
class RecordedSearch:
    """What a search found, and when."""

    passages: Sequence[RecordedPassage]
    found_at: int


class RecordedSearches:
    """Reads the searches of runs from the ledger."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def find(self, run_id: RunId, kb_id: str, query: str) -> RecordedSearch | None:
        """Returns the same search of a run; None if it made none, or if its steps are not kept any more."""
        conditions = where(run_id=run_id, type=SEARCH_EVENT)
        for row in await self._journal.read(Select(RUN_EVENTS, conditions, order=("sequence",))):
            data = loads(row["data"])
            if data.get("kb_id") == kb_id and data.get("query") == query[:MAX_RECORDED_QUERY]:
                passages = [RecordedPassage(each["chunk_id"], each["score"]) for each in data["passages"]]
                return RecordedSearch(passages, row["created_at"])
        return None
