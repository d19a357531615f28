"""Adds skills and their activations in conversations. Tag: expand."""

import sqlalchemy as sa
from alembic import op

from parlour.stores.columns import integer, text

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None
phase = "expand"


def upgrade() -> None:
    op.create_table(
        "skills",
        *text("skill_name definition sha256 artifact_id"),
        *integer("created_at updated_at"),
        sa.PrimaryKeyConstraint("skill_name"),
        sqlite_strict=True,
    )
    op.create_index("skills_by_artifact_id", "skills", ["artifact_id"])
    op.create_table(
        "skill_activations",
        *text("conversation_id skill_name run_id"),
        *integer("activated_at expires_at"),
        sa.PrimaryKeyConstraint("conversation_id", "skill_name"),
        sqlite_strict=True,
    )
    op.create_index("skill_activations_by_skill_name", "skill_activations", ["skill_name"])
    op.create_index("skill_activations_by_expires_at", "skill_activations", ["expires_at"])
