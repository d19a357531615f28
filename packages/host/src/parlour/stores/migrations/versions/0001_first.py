"""The tables of the first release.

Integers are 64 bits everywhere: SQLite's INTEGER, PostgreSQL's BIGINT. Text compares by code point everywhere.
SQLite checks types only in STRICT tables.
"""

from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
INTEGER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _text(names: str) -> "Iterator[sa.Column[str]]":
    return (sa.Column(name, TEXT, nullable=False) for name in names.split())


def _integer(names: str) -> "Iterator[sa.Column[int]]":
    return (sa.Column(name, INTEGER, nullable=False, autoincrement=False) for name in names.split())


def upgrade() -> None:
    op.create_table(
        "meta",
        *_text("name value"),
        sa.PrimaryKeyConstraint("name"),
        sqlite_strict=True,
    )

    op.create_table(
        "api_keys",
        *_text("key_id name scope digest"),
        *_integer("created_at expires_at revoked_at"),
        sa.PrimaryKeyConstraint("key_id"),
        sa.UniqueConstraint("digest", name="api_keys_unique_digest"),
        sqlite_strict=True,
    )

    op.create_table(
        "agents",
        *_text("agent_id definition"),
        *_integer("created_at updated_at"),
        sa.PrimaryKeyConstraint("agent_id"),
        sqlite_strict=True,
    )

    op.create_table(
        "routes",
        *_text("route_id bot_id definition"),
        *_integer("position"),
        sa.PrimaryKeyConstraint("route_id"),
        sqlite_strict=True,
    )
    op.create_index("routes_by_bot_id_position", "routes", ["bot_id", "position"])

    op.create_table(
        "conversations",
        *_text("conversation_id workspace_id source bot_id chat thread_id agent_id principal"),
        *_integer("generation transcript_seq created_at updated_at"),
        sa.PrimaryKeyConstraint("conversation_id"),
        sa.UniqueConstraint(
            "workspace_id",
            "source",
            "bot_id",
            "chat",
            "thread_id",
            "agent_id",
            "principal",
            "generation",
            name="conversations_unique_generation",
        ),
        sqlite_strict=True,
    )
    op.create_index("conversations_by_principal_conversation_id", "conversations", ["principal", "conversation_id"])

    op.create_table(
        "events",
        sa.Column("seq", INTEGER, primary_key=True),
        *_text(
            "event_id event_type workspace_id source source_event_type bot_id principal conversation_id "
            "thread_id actor_type actor_id actor_name subject_type subject_id input_summary body"
        ),
        *_integer("event_time created_at"),
        sa.UniqueConstraint("workspace_id", "source", "bot_id", "principal", "event_id", name="events_unique_event_id"),
        sqlite_autoincrement=True,
        sqlite_strict=True,
    )
    op.create_index("events_by_conversation_id_seq", "events", ["conversation_id", "seq"])
    op.create_index("events_by_event_type_seq", "events", ["event_type", "seq"])
    op.create_index("events_by_event_id", "events", ["event_id"])

    op.create_table(
        "inbox",
        *_text("lane state run_id"),
        *_integer("event_seq attempts transcribed"),
        sa.PrimaryKeyConstraint("event_seq"),
        sqlite_strict=True,
    )
    op.create_index("inbox_by_run_id", "inbox", ["run_id"])

    op.create_table(
        "outcomes",
        *_text("outcome reason run_id"),
        *_integer("event_seq decided_at"),
        sa.PrimaryKeyConstraint("event_seq"),
        sqlite_strict=True,
    )
    op.create_index("outcomes_by_run_id", "outcomes", ["run_id"])

    op.create_table(
        "runs",
        *_text(
            "run_id event_id agent_id binding_id runner_id plugin_id conversation_id thread_id "
            "workspace_id bot_id status status_reason error parent_run_id claimed_by usage snapshot "
            "metadata"
        ),
        *_integer(
            "event_seq attempt shown effects created_at started_at finished_at updated_at deadline_at "
            "cancel_requested_at lease_until feed_seq"
        ),
        sa.PrimaryKeyConstraint("run_id"),
        sqlite_strict=True,
    )
    op.create_index("runs_by_event_seq", "runs", ["event_seq"])
    op.create_index("runs_by_status_run_id", "runs", ["status", "run_id"])
    op.create_index("runs_by_agent_id_run_id", "runs", ["agent_id", "run_id"])
    op.create_index("runs_by_conversation_id_run_id", "runs", ["conversation_id", "run_id"])
    op.create_index("runs_by_bot_id_run_id", "runs", ["bot_id", "run_id"])

    op.create_table(
        "run_events",
        *_text("run_id type data source artifact_refs metadata"),
        *_integer("sequence first_sequence last_sequence created_at"),
        sa.PrimaryKeyConstraint("run_id", "sequence"),
        sqlite_strict=True,
    )

    op.create_table(
        "transcript",
        *_text(
            "transcript_id conversation_id thread_id event_id run_id role item_type content "
            "content_json artifact_refs metadata"
        ),
        *_integer("seq event_seq created_at"),
        sa.PrimaryKeyConstraint("transcript_id"),
        sa.UniqueConstraint("conversation_id", "seq", name="transcript_unique_seq"),
        sqlite_strict=True,
    )
    op.create_index("transcript_by_run_id", "transcript", ["run_id"])

    op.create_table(
        "outbox",
        sa.Column("seq", INTEGER, primary_key=True),
        *_text("outbox_id surface target conversation_id bot_id run_id kind state payload reason platform_message_id"),
        *_integer("feed_seq attempts possibly_repeated not_before expires_at created_at updated_at"),
        sa.UniqueConstraint("outbox_id", name="outbox_unique_outbox_id"),
        sqlite_autoincrement=True,
        sqlite_strict=True,
    )
    op.create_index("outbox_by_state_seq", "outbox", ["state", "seq"])
    op.create_index("outbox_by_conversation_id_feed_seq", "outbox", ["conversation_id", "feed_seq"])
    op.create_index("outbox_by_run_id", "outbox", ["run_id"])

    op.create_table(
        "state",
        *_text("scope_key name scope conversation_id value"),
        *_integer("updated_at"),
        sa.PrimaryKeyConstraint("scope_key", "name"),
        sqlite_strict=True,
    )
    op.create_index("state_by_conversation_id", "state", ["conversation_id"])


def downgrade() -> None:
    raise NotImplementedError("there is no way back but a backup")
