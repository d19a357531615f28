"""Less is written with every message: new words wait for the search's index, and outcomes are found by event only."""

from alembic import op

from parlour.stores.columns import on_postgres

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None
phase = "contract"

SQLITE_SEARCH = (
    "DROP TRIGGER transcript_search_added",
    "DROP TRIGGER transcript_search_removed",
    "CREATE TRIGGER transcript_search_removed AFTER DELETE ON transcript_search "
    "WHEN EXISTS (SELECT 1 FROM transcript_search_words_docsize WHERE id = old.rowid) BEGIN "
    "INSERT INTO transcript_search_words (transcript_search_words, rowid, words) "
    "VALUES ('delete', old.rowid, old.words); END",
)


def upgrade() -> None:
    op.drop_index("outcomes_by_run_id", "outcomes")
    if not on_postgres():  # whose index has a list of rows that wait of its own
        for statement in SQLITE_SEARCH:
            op.execute(statement)
