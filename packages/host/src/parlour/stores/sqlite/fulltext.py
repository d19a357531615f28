"""Adds the text of new rows to the full-text index, many rows at a time.

A row that is indexed alone writes six pages of the index, and a hundred rows together write hardly more. So rows wait
until there are enough of them, and a search first indexes those that wait. The waiting rows are not recorded: rows are
numbered in the order of their commits, and the index has the number of each indexed row. So all rows that a crash left
waiting are found, and a row that is deleted while it waits needs no treatment.
"""

from parlour.core.store.tables import TRANSCRIPT
from parlour.stores.sql import Parameters, StatementPlan

BATCH_CHARACTERS = 160 * 1024
"""Characters of waiting rows that start an update of the index, some hundreds of short messages. Units wait during an
update, so it should be rare and short."""

_WAITING = "FROM transcript WHERE rowid > (SELECT coalesce(max(id), 0) FROM transcript_words_docsize)"
PENDING_EXISTS = StatementPlan(TRANSCRIPT, f"SELECT rowid {_WAITING} LIMIT 1", (), ("rowid",))
INDEX_PENDING = StatementPlan(
    TRANSCRIPT,
    f"INSERT INTO transcript_words (rowid, words) SELECT rowid, words {_WAITING} ORDER BY rowid",
    (),
    (),
)


def count_characters(parameters: Parameters) -> int:
    return sum([len(value) for value in parameters if type(value) is str])
