"""Names of people and groups that platforms were asked for."""

import sqlalchemy as sa
from alembic import op

from parlour.stores.columns import integer, text

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None
phase = "expand"


def upgrade() -> None:
    op.create_table(
        "names",
        *text("bot_id kind entity_id name"),
        *integer("created_at expires_at"),
        sa.PrimaryKeyConstraint("bot_id", "kind", "entity_id"),
        sqlite_strict=True,
    )
    op.create_index("names_by_expires_at", "names", ["expires_at"])
