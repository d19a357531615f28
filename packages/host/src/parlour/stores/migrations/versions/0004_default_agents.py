"""Default agents."""

import sqlalchemy as sa
from alembic import op

from parlour.stores.columns import integer, text

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None
phase = "expand"


def upgrade() -> None:
    _default_agents()


def _default_agents() -> None:
    op.create_table(
        "default_agents",
        *text("default_id scope platform bot_id chat thread_id actor_id agent_id"),
        *integer("created_at updated_at"),
        sa.PrimaryKeyConstraint("default_id"),
        sa.UniqueConstraint(
            "scope", "platform", "bot_id", "chat", "thread_id", "actor_id", name="default_agents_unique_place"
        ),
        sqlite_strict=True,
    )
