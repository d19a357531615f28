"""Adds the lists of words that filters use. Tag: expand."""

import sqlalchemy as sa
from alembic import op

from parlour.stores.columns import integer, text

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None
phase = "expand"


def upgrade() -> None:
    op.create_table(
        "word_lists",
        *text("list_id definition"),
        *integer("created_at updated_at"),
        sa.PrimaryKeyConstraint("list_id"),
        sqlite_strict=True,
    )
