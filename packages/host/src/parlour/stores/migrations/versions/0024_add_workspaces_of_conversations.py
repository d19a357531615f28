"""Adds the workspaces that conversations have used. Tag: expand."""

import sqlalchemy as sa
from alembic import op

from parlour.stores.columns import integer, text

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None
phase = "expand"


def upgrade() -> None:
    op.create_table(
        "box_workspaces",
        *text("conversation_id session_id workspace_id"),
        *integer("expires_at"),
        sa.PrimaryKeyConstraint("conversation_id", "session_id"),
        sqlite_strict=True,
    )
    op.create_index("box_workspaces_by_session_id", "box_workspaces", ["session_id"])
    op.create_index("box_workspaces_by_expires_at", "box_workspaces", ["expires_at"])
