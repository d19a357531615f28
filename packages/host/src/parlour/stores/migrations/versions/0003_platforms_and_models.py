"""Bots, approvals and webhooks; models and budgets; MCP servers; reruns."""

import sqlalchemy as sa
from alembic import op

from parlour.stores.columns import add, integer, on_postgres, text

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None
phase = "contract"


def upgrade() -> None:
    _models_and_budgets()
    _bots()
    _approvals()
    _accounts()
    _schedules()
    _statistics()
    _webhooks()
    _reruns()
    _search()
    _mcp_servers()


def _schedules() -> None:
    op.create_table(
        "schedules",
        *text("schedule_id definition"),
        *integer("due_at fired_at created_at updated_at"),
        sa.PrimaryKeyConstraint("schedule_id"),
        sqlite_strict=True,
    )


def _statistics() -> None:
    op.create_table(
        "statistics",
        *text("name"),
        *integer("hour amount"),
        sa.PrimaryKeyConstraint("hour", "name"),
        sqlite_strict=True,
    )


def _webhooks() -> None:
    op.create_table(
        "webhooks",
        *text("webhook_id definition"),
        *integer("created_at updated_at"),
        sa.PrimaryKeyConstraint("webhook_id"),
        sqlite_strict=True,
    )


def _accounts() -> None:
    for column in integer("last_used_at"):
        add("api_keys", column, "0")
    op.create_table(
        "users",
        *text("user_id email name role password"),
        *integer("enabled created_at updated_at"),
        sa.PrimaryKeyConstraint("user_id"),
        sa.UniqueConstraint("email", name="users_unique_email"),
        sqlite_strict=True,
    )
    op.create_table(
        "logins",
        *text("digest user_id csrf agent address"),
        *integer("created_at seen_at expires_at"),
        sa.PrimaryKeyConstraint("digest"),
        sqlite_strict=True,
    )
    op.create_index("logins_by_user_id", "logins", ["user_id"])
    op.create_index("logins_by_expires_at", "logins", ["expires_at"])


def _reruns() -> None:
    for column in text("rerun_of created_by"):
        add("runs", column, "")


def _search() -> None:
    """Words are their conversation's own: an index of the conversation's rows would only lead away from theirs.

    What was said last is looked through one by one until the index of words takes it in: not too much of it.
    """
    op.drop_index("transcript_search_by_conversation_id_seq", "transcript_search")
    if on_postgres():
        op.execute("ALTER INDEX transcript_search_words SET (gin_pending_list_limit = 128)")


def _bots() -> None:
    op.create_table(
        "bots",
        *text("bot_id definition"),
        *integer("created_at updated_at"),
        sa.PrimaryKeyConstraint("bot_id"),
        sqlite_strict=True,
    )
    op.create_table(
        "bot_cursors",
        *text("bot_id cursor"),
        *integer("updated_at"),
        sa.PrimaryKeyConstraint("bot_id"),
        sqlite_strict=True,
    )
    op.create_table(
        "listening",
        *text("plugin_id"),
        *integer("event_seq observing attempts not_before created_at"),
        sa.PrimaryKeyConstraint("event_seq", "plugin_id"),
        sqlite_strict=True,
    )
    op.create_index("listening_by_plugin_id_event_seq", "listening", ["plugin_id", "event_seq"])
    op.create_table(
        "webhook_calls",
        *text("call_id bot_id request"),
        *integer("event_seq attempts not_before created_at"),
        sa.PrimaryKeyConstraint("call_id"),
        sqlite_strict=True,
    )
    op.create_index("webhook_calls_by_not_before", "webhook_calls", ["not_before"])


def _approvals() -> None:
    op.create_table(
        "approvals",
        *text(
            "approval_id keyword status action call hash words agent_id run_id conversation_id chat requester who "
            "decided_by reason outbox_id outcome"
        ),
        *integer("event_seq created_at expires_at decided_at"),
        sa.PrimaryKeyConstraint("approval_id"),
        sqlite_strict=True,
    )
    op.create_index("approvals_by_status_approval_id", "approvals", ["status", "approval_id"])
    op.create_index("approvals_by_created_at", "approvals", ["created_at"])
    op.create_index("approvals_by_conversation_id", "approvals", ["conversation_id"])
    op.create_index("approvals_by_run_id", "approvals", ["run_id"])


def _models_and_budgets() -> None:
    op.create_table(
        "model_providers",
        *text("provider_id definition"),
        *integer("created_at updated_at"),
        sa.PrimaryKeyConstraint("provider_id"),
        sqlite_strict=True,
    )
    op.create_table(
        "models",
        *text("model_id provider_id definition"),
        *integer("created_at updated_at"),
        sa.PrimaryKeyConstraint("model_id"),
        sqlite_strict=True,
    )
    op.create_index("models_by_provider_id", "models", ["provider_id"])
    op.create_table(
        "budgets",
        *text("budget_id definition"),
        *integer("created_at updated_at"),
        sa.PrimaryKeyConstraint("budget_id"),
        sqlite_strict=True,
    )
    op.create_table(
        "budget_uses",
        *text("budget_id subject period"),
        *integer("tokens cost_micros updated_at"),
        sa.PrimaryKeyConstraint("budget_id", "subject", "period"),
        sqlite_strict=True,
    )
    op.create_index("budget_uses_by_budget_id_period_tokens", "budget_uses", ["budget_id", "period", "tokens"])
    op.create_index("budget_uses_by_period", "budget_uses", ["period"])
    op.create_table(
        "reservations",
        *text("reservation_id run_id model_id held"),
        *integer("tokens cost_micros created_at"),
        sa.PrimaryKeyConstraint("reservation_id"),
        sqlite_strict=True,
    )


def _mcp_servers() -> None:
    op.create_table(
        "mcp_servers",
        *text("server_id name definition"),
        *integer("created_at updated_at"),
        sa.PrimaryKeyConstraint("server_id"),
        sa.UniqueConstraint("name", name="mcp_servers_unique_name"),
        sqlite_strict=True,
    )
