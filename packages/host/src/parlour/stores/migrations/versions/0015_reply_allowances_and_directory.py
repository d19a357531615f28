"""Reply allowances, and the directory of people, chats, members and messages (expand: no existing row changes)."""

import sqlalchemy as sa
from alembic import op

from parlour.stores.columns import integer, text

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None
phase = "expand"


def upgrade() -> None:
    op.create_table(
        "reply_allowances",
        *text("bot_id event_id chat handle fallback scope reason"),
        *integer("allowed used repeatable until created_at expires_at"),
        sa.PrimaryKeyConstraint("bot_id", "event_id"),
        sqlite_strict=True,
    )
    op.create_index(
        "reply_allowances_by_bot_id_chat_created_at", "reply_allowances", ["bot_id", "chat", "created_at"]
    )
    op.create_index("reply_allowances_by_expires_at", "reply_allowances", ["expires_at"])
    op.create_table(
        "directory",
        *text("bot_id kind entity_id name data"),
        *integer("private seen_at"),
        sa.PrimaryKeyConstraint("bot_id", "kind", "entity_id"),
        sqlite_strict=True,
    )
    op.create_index("directory_by_seen_at", "directory", ["seen_at"])
    op.create_table(
        "directory_members",
        *text("bot_id group_id user_id name role"),
        *integer("seen_at"),
        sa.PrimaryKeyConstraint("bot_id", "group_id", "user_id"),
        sqlite_strict=True,
    )
    op.create_index("directory_members_by_bot_id_user_id", "directory_members", ["bot_id", "user_id"])
    op.create_index("directory_members_by_seen_at", "directory_members", ["seen_at"])
    op.create_table(
        "directory_messages",
        *text("bot_id chat message_id thread_id event_id sender_id"),
        *integer("seen_at"),
        sa.PrimaryKeyConstraint("bot_id", "chat", "message_id"),
        sqlite_strict=True,
    )
    op.create_index("directory_messages_by_bot_id_message_id", "directory_messages", ["bot_id", "message_id"])
    op.create_index("directory_messages_by_bot_id_sender_id", "directory_messages", ["bot_id", "sender_id"])
    op.create_index("directory_messages_by_seen_at", "directory_messages", ["seen_at"])
