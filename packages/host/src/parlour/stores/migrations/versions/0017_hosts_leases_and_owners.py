"""Add the Hosts of a cluster, their leases and the owners of parts."""

import sqlalchemy as sa
from alembic import op

from parlour.stores.columns import integer, text

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None
phase = "expand"


def upgrade() -> None:
    op.create_table(
        "hosts",
        *text("host_id name version"),
        *integer("started_at fenced_at"),
        sa.PrimaryKeyConstraint("host_id"),
        sqlite_strict=True,
    )
    op.create_table(
        "leases",
        *text("host_id"),
        *integer("slot lease_until"),
        sa.PrimaryKeyConstraint("host_id"),
        sa.UniqueConstraint("slot"),
        sqlite_strict=True,
    )
    op.create_table(
        "owners",
        *text("part host_id wanted"),
        *integer("epoch moved_at"),
        sa.PrimaryKeyConstraint("part"),
        sqlite_strict=True,
    )
    op.create_index("owners_by_host_id", "owners", ["host_id"])
