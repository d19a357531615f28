"""Search, audit, artifacts, storage, feedback, journaled calls, remote runtimes, and what the trail needs."""

import sqlalchemy as sa
from alembic import op

from parlour.stores.columns import add, blob, counted, integer, on_postgres, text

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None
phase = "expand"

SQLITE_SEARCH = (
    "CREATE VIRTUAL TABLE transcript_search_words USING fts5("
    "words, content='transcript_search', tokenize='unicode61 remove_diacritics 0')",
    "CREATE TRIGGER transcript_search_added AFTER INSERT ON transcript_search BEGIN "
    "INSERT INTO transcript_search_words (rowid, words) VALUES (new.rowid, new.words); END",
    "CREATE TRIGGER transcript_search_removed AFTER DELETE ON transcript_search BEGIN "
    "INSERT INTO transcript_search_words (transcript_search_words, rowid, words) "
    "VALUES ('delete', old.rowid, old.words); END",
)
POSTGRES_SEARCH = (
    "CREATE INDEX transcript_search_words ON transcript_search "
    "USING gin (array_to_tsvector(string_to_array(words, ' ')))",
)


def upgrade() -> None:
    if not on_postgres():
        _add_missing_feed_numbers()
    op.create_table(
        "transcript_search",
        *text("transcript_id conversation_id thread_id role item_type event_type words"),
        *integer("seq created_at"),
        sa.PrimaryKeyConstraint("transcript_id"),
        sqlite_strict=True,
    )
    op.create_index("transcript_search_by_conversation_id_seq", "transcript_search", ["conversation_id", "seq"])
    for statement in POSTGRES_SEARCH if on_postgres() else SQLITE_SEARCH:
        op.execute(statement)

    op.create_table(
        "audit",
        counted("seq"),
        *text("kind workspace_id actor run_id runner_id plugin_id action resource scope outcome code detail"),
        *integer("created_at"),
        sqlite_autoincrement=True,
        sqlite_strict=True,
    )
    op.create_index("audit_by_run_id", "audit", ["run_id"])
    op.create_index("audit_by_kind_seq", "audit", ["kind", "seq"])
    op.create_index("audit_by_created_at", "audit", ["created_at"])

    op.create_table(
        "artifacts",
        *text(
            "artifact_id artifact_type mime_type name sha256 source workspace_id bot_id conversation_id thread_id "
            "run_id runner_id binding_id location reference summary metadata"
        ),
        *integer("size_bytes created_at expires_at"),
        sa.PrimaryKeyConstraint("artifact_id"),
        sqlite_strict=True,
    )
    op.create_index("artifacts_by_conversation_id_artifact_id", "artifacts", ["conversation_id", "artifact_id"])
    op.create_index("artifacts_by_run_id", "artifacts", ["run_id"])
    op.create_index("artifacts_by_sha256", "artifacts", ["sha256"])
    op.create_index("artifacts_by_created_at", "artifacts", ["created_at"])
    op.create_index("artifacts_by_expires_at", "artifacts", ["expires_at"])

    op.create_table(
        "storage",
        *text("area owner name"),
        *blob("value"),
        *integer("size_bytes updated_at"),
        sa.PrimaryKeyConstraint("area", "owner", "name"),
        sqlite_strict=True,
    )

    op.create_table(
        "feedback",
        *text(
            "feedback_key feedback_id workspace_id bot_id content reasons user_id session_id message_id stream_id "
            "run_id agent_id conversation_id"
        ),
        *integer("feedback_type created_at updated_at"),
        sa.PrimaryKeyConstraint("feedback_key"),
        sqlite_strict=True,
    )
    op.create_index("feedback_by_agent_id_feedback_key", "feedback", ["agent_id", "feedback_key"])
    op.create_index("feedback_by_run_id", "feedback", ["run_id"])
    op.create_index("feedback_by_conversation_id", "feedback", ["conversation_id"])

    op.create_table(
        "calls",
        *text("lineage run_id action request_hash state answer"),
        *integer("position created_at"),
        sa.PrimaryKeyConstraint("lineage", "position"),
        sqlite_strict=True,
    )
    op.create_index("calls_by_run_id", "calls", ["run_id"])

    op.create_table(
        "queue",
        *text("run_id runner_id plugin_id labels lease request"),
        *integer("created_at"),
        sa.PrimaryKeyConstraint("run_id"),
        sqlite_strict=True,
    )
    op.create_index("queue_by_created_at", "queue", ["created_at"])

    op.create_table(
        "runtimes",
        *text("runtime_id workspace_id plugin_id status definition"),
        *integer("registered_at last_seen_at expires_at"),
        sa.PrimaryKeyConstraint("runtime_id"),
        sqlite_strict=True,
    )

    op.create_table(
        "trail",
        *text("entry_id step data"),
        *integer("event_seq created_at"),
        sa.PrimaryKeyConstraint("entry_id"),
        sqlite_strict=True,
    )
    op.create_index("trail_by_event_seq", "trail", ["event_seq"])

    op.create_index("outbox_by_platform_message_id", "outbox", ["platform_message_id"])


def _add_missing_feed_numbers() -> None:
    """Adds a column to databases of the first commits, whose revision 0001 did not have it yet."""
    columns = op.get_bind().execute(sa.text("SELECT name FROM pragma_table_info('runs')"))
    if "feed_seq" not in columns.scalars():
        [column] = integer("feed_seq")
        add("runs", column, "0", keep_default=True)
