"""Adds pipelines. Tag: expand."""

import sqlalchemy as sa
from alembic import op

from parlour.stores.columns import integer, text

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None
phase = "expand"


def upgrade() -> None:
    op.create_table(
        "pipelines",
        *text("pipeline_id definition"),
        *integer("created_at updated_at"),
        sa.PrimaryKeyConstraint("pipeline_id"),
        sqlite_strict=True,
    )
