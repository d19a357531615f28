"""Adds the private memory of agents. Tag: expand."""

import sqlalchemy as sa
from alembic import op

from parlour.stores.columns import integer, text

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None
phase = "expand"

OWNER = ["agent_id", "bot_id", "owner_type", "owner_id", "principal"]


def upgrade() -> None:
    op.create_table(
        "memories",
        *text(
            "memory_id agent_id bot_id owner_type owner_id principal chat conversation_id run_id text origin"
        ),
        *integer("private created_at updated_at expires_at"),
        sa.PrimaryKeyConstraint("memory_id"),
        sqlite_strict=True,
    )
    op.create_index("memories_by_agent_id_bot_id_owner_type_owner_id_principal", "memories", OWNER)
    op.create_index("memories_by_owner_type_owner_id", "memories", ["owner_type", "owner_id"])
    op.create_index("memories_by_conversation_id", "memories", ["conversation_id"])
    op.create_index("memories_by_expires_at", "memories", ["expires_at"])
    op.create_table(
        "memory_consents",
        *text("agent_id bot_id owner_type owner_id principal decision"),
        *integer("updated_at"),
        sa.PrimaryKeyConstraint(*OWNER),
        sqlite_strict=True,
    )
    op.create_index("memory_consents_by_owner_type_owner_id", "memory_consents", ["owner_type", "owner_id"])
