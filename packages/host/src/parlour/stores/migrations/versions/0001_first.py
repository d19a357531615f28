"""The tables of the first release, and what the journal keeps for itself on PostgreSQL."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from parlour.stores.columns import counted, integer, on_postgres, text

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None
phase = "expand"


def upgrade() -> None:
    op.create_table(
        "meta",
        *text("name value"),
        sa.PrimaryKeyConstraint("name"),
        sqlite_strict=True,
    )

    op.create_table(
        "api_keys",
        *text("key_id name scope digest"),
        *integer("created_at expires_at revoked_at"),
        sa.PrimaryKeyConstraint("key_id"),
        sa.UniqueConstraint("digest", name="api_keys_unique_digest"),
        sqlite_strict=True,
    )

    op.create_table(
        "agents",
        *text("agent_id definition"),
        *integer("created_at updated_at"),
        sa.PrimaryKeyConstraint("agent_id"),
        sqlite_strict=True,
    )

    op.create_table(
        "routes",
        *text("route_id bot_id definition"),
        *integer("position"),
        sa.PrimaryKeyConstraint("route_id"),
        sqlite_strict=True,
    )
    op.create_index("routes_by_bot_id_position", "routes", ["bot_id", "position"])

    op.create_table(
        "conversations",
        *text("conversation_id workspace_id source bot_id chat thread_id agent_id principal"),
        *integer("generation transcript_seq created_at updated_at"),
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
        counted("seq"),
        *text(
            "event_id event_type workspace_id source source_event_type bot_id principal conversation_id "
            "thread_id actor_type actor_id actor_name subject_type subject_id input_summary body"
        ),
        *integer("event_time created_at"),
        sa.UniqueConstraint("workspace_id", "source", "bot_id", "principal", "event_id", name="events_unique_event_id"),
        sqlite_autoincrement=True,
        sqlite_strict=True,
    )
    op.create_index("events_by_conversation_id_seq", "events", ["conversation_id", "seq"])
    op.create_index("events_by_event_type_seq", "events", ["event_type", "seq"])
    op.create_index("events_by_event_id", "events", ["event_id"])

    op.create_table(
        "inbox",
        *text("lane state run_id"),
        *integer("event_seq attempts transcribed"),
        sa.PrimaryKeyConstraint("event_seq"),
        sqlite_strict=True,
    )
    op.create_index("inbox_by_run_id", "inbox", ["run_id"])

    op.create_table(
        "outcomes",
        *text("outcome reason run_id"),
        *integer("event_seq decided_at"),
        sa.PrimaryKeyConstraint("event_seq"),
        sqlite_strict=True,
    )
    op.create_index("outcomes_by_run_id", "outcomes", ["run_id"])

    op.create_table(
        "runs",
        *text(
            "run_id event_id agent_id binding_id runner_id plugin_id conversation_id thread_id "
            "workspace_id bot_id status status_reason error parent_run_id claimed_by usage snapshot "
            "metadata"
        ),
        *integer(
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
        *text("run_id type data source artifact_refs metadata"),
        *integer("sequence first_sequence last_sequence created_at"),
        sa.PrimaryKeyConstraint("run_id", "sequence"),
        sqlite_strict=True,
    )

    op.create_table(
        "transcript",
        *text(
            "transcript_id conversation_id thread_id event_id run_id role item_type content "
            "content_json artifact_refs metadata"
        ),
        *integer("seq event_seq created_at"),
        sa.PrimaryKeyConstraint("transcript_id"),
        sa.UniqueConstraint("conversation_id", "seq", name="transcript_unique_seq"),
        sqlite_strict=True,
    )
    op.create_index("transcript_by_run_id", "transcript", ["run_id"])

    op.create_table(
        "outbox",
        counted("seq"),
        *text("outbox_id surface target conversation_id bot_id run_id kind state payload reason platform_message_id"),
        *integer("feed_seq attempts possibly_repeated not_before expires_at created_at updated_at"),
        sa.UniqueConstraint("outbox_id", name="outbox_unique_outbox_id"),
        sqlite_autoincrement=True,
        sqlite_strict=True,
    )
    op.create_index("outbox_by_state_seq", "outbox", ["state", "seq"])
    op.create_index("outbox_by_conversation_id_feed_seq", "outbox", ["conversation_id", "feed_seq"])
    op.create_index("outbox_by_run_id", "outbox", ["run_id"])

    op.create_table(
        "state",
        *text("scope_key name scope conversation_id value"),
        *integer("updated_at"),
        sa.PrimaryKeyConstraint("scope_key", "name"),
        sqlite_strict=True,
    )
    op.create_index("state_by_conversation_id", "state", ["conversation_id"])

    if on_postgres():
        op.create_table("journal_counters", *text("name"), *integer("last"), sa.PrimaryKeyConstraint("name"))
        op.create_table(
            "journal_writers",
            *text("writer_id"),
            *integer("batch"),
            sa.Column("outcomes", postgresql.JSONB(), nullable=False),
            sa.Column("replaced", sa.Boolean(), nullable=False),
            sa.Column("touched_at", sa.DateTime(timezone=True), nullable=False),
            sa.PrimaryKeyConstraint("writer_id"),
        )


def downgrade() -> None:
    raise NotImplementedError("there is no way back but a backup")
