"""The words of a transcript item are part of it: a row of their own was a third of what a message's items cost."""

from alembic import op

from parlour.stores.columns import add, on_postgres, text

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None
phase = "contract"

SQLITE_SEARCH = (
    "DROP TRIGGER transcript_search_removed",
    "DROP TABLE transcript_search_words",
    "CREATE VIRTUAL TABLE transcript_words USING fts5("
    "words, content='transcript', tokenize='unicode61 remove_diacritics 0')",
    "CREATE TRIGGER transcript_removed AFTER DELETE ON transcript "
    "WHEN EXISTS (SELECT 1 FROM transcript_words_docsize WHERE id = old.rowid) BEGIN "
    "INSERT INTO transcript_words (transcript_words, rowid, words) VALUES ('delete', old.rowid, old.words); END",
    "INSERT INTO transcript_words (rowid, words) SELECT rowid, words FROM transcript ORDER BY rowid",
)
POSTGRES_SEARCH = (
    "DROP INDEX transcript_search_words",
    "CREATE INDEX transcript_words ON transcript USING gin (array_to_tsvector(string_to_array(words, ' '))) "
    "WITH (gin_pending_list_limit = 128)",
)


def upgrade() -> None:
    for column in text("event_type words"):
        add("transcript", column, "")
    op.execute(
        "UPDATE transcript SET event_type = known.event_type, words = known.words "
        "FROM transcript_search AS known WHERE known.transcript_id = transcript.transcript_id"
    )
    for statement in POSTGRES_SEARCH if on_postgres() else SQLITE_SEARCH:
        op.execute(statement)
    op.drop_table("transcript_search")
