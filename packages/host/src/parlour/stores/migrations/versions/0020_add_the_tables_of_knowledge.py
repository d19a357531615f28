"""Adds the tables of knowledge bases, with a full-text index of their passages. Tag: expand."""

import sqlalchemy as sa
from alembic import op

from parlour.stores.columns import integer, on_postgres, text

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None
phase = "expand"

SQLITE_SEARCH = (
    "CREATE VIRTUAL TABLE knowledge_chunks_words USING fts5("
    "words, content='knowledge_chunks', tokenize='unicode61 remove_diacritics 0', detail=none)",
    "CREATE TRIGGER knowledge_chunks_added AFTER INSERT ON knowledge_chunks BEGIN "
    "INSERT INTO knowledge_chunks_words (rowid, words) VALUES (new.rowid, new.words); END",
    "CREATE TRIGGER knowledge_chunks_removed AFTER DELETE ON knowledge_chunks BEGIN "
    "INSERT INTO knowledge_chunks_words (knowledge_chunks_words, rowid, words) "
    "VALUES ('delete', old.rowid, old.words); END",
    "CREATE TRIGGER knowledge_chunks_changed AFTER UPDATE OF words ON knowledge_chunks BEGIN "
    "INSERT INTO knowledge_chunks_words (knowledge_chunks_words, rowid, words) "
    "VALUES ('delete', old.rowid, old.words); "
    "INSERT INTO knowledge_chunks_words (rowid, words) VALUES (new.rowid, new.words); END",
)
POSTGRES_SEARCH = (
    "CREATE INDEX knowledge_chunks_words ON knowledge_chunks "
    "USING gin (array_to_tsvector(string_to_array(words, ' ')))",
)


def upgrade() -> None:
    op.create_table(
        "knowledge_bases",
        *text("kb_id name definition state"),
        *integer("generation dimension files chunks bytes created_at updated_at"),
        sa.PrimaryKeyConstraint("kb_id"),
        sqlite_strict=True,
    )
    op.create_table(
        "knowledge_files",
        *text(
            "file_id kb_id name mime_type sha256 artifact_id source address metadata options state job_id error_code error "
            "parser"
        ),
        *integer("generation size_bytes pages chunks refreshed_at created_at updated_at"),
        sa.PrimaryKeyConstraint("file_id"),
        sqlite_strict=True,
    )
    op.create_index("knowledge_files_by_kb_id_name", "knowledge_files", ["kb_id", "name"])
    op.create_index("knowledge_files_by_kb_id_file_id", "knowledge_files", ["kb_id", "file_id"])
    op.create_index("knowledge_files_by_kb_id_sha256", "knowledge_files", ["kb_id", "sha256"])
    op.create_index("knowledge_files_by_artifact_id", "knowledge_files", ["artifact_id"])
    op.create_table(
        "knowledge_chunks",
        *text("chunk_id kb_id file_id text heading hints words origin"),
        *integer("generation position page char_start char_end tokens enabled updated_at"),
        sa.PrimaryKeyConstraint("chunk_id"),
        sqlite_strict=True,
    )
    op.create_index("knowledge_chunks_by_kb_id_chunk_id", "knowledge_chunks", ["kb_id", "chunk_id"])
    op.create_index(
        "knowledge_chunks_by_file_id_generation_position", "knowledge_chunks", ["file_id", "generation", "position"]
    )
    for statement in POSTGRES_SEARCH if on_postgres() else SQLITE_SEARCH:
        op.execute(statement)
