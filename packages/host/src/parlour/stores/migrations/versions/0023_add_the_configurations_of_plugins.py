"""Add the configurations of plugins."""

import sqlalchemy as sa
from alembic import op

from parlour.stores.columns import integer, text

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None
phase = "expand"


def upgrade() -> None:
    op.create_table(
        "plugin_configs",
        *text("plugin_id definition"),
        *integer("created_at updated_at"),
        sa.PrimaryKeyConstraint("plugin_id"),
        sqlite_strict=True,
    )
