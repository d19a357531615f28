"""Takes the words of new rows into the full-text index, many rows at a time.

A row that goes into the index alone writes six pages of it, and a hundred that go together write hardly more. So rows
wait until there are enough of them, and a search begins by taking in those that do. Which they are is noted nowhere:
rows are numbered in the order of their commits, and the index itself holds the number of each row that it knows. So
whatever a kill leaves behind is found, and a row that is deleted while it waits is none of the index's business.
"""

from parlour.core.store.tables import TRANSCRIPT
from parlour.stores.sql import Parameters, Plan

ENOUGH = 160 * 1024
"""Characters of rows, some hundreds of short messages: units wait while they are taken in, so that should be seldom,
and not for long."""

_WAITING = "FROM transcript WHERE rowid > (SELECT coalesce(max(id), 0) FROM transcript_words_docsize)"
BEHIND = Plan(TRANSCRIPT, f"SELECT rowid {_WAITING} LIMIT 1", (), ("rowid",))
TAKE_IN = Plan(
    TRANSCRIPT,
    f"INSERT INTO transcript_words (rowid, words) SELECT rowid, words {_WAITING} ORDER BY rowid",
    (),
    (),
)


def characters(parameters: Parameters) -> int:
    return sum([len(value) for value in parameters if type(value) is str])
