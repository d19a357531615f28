"""Bind keys of workers to labels and runners, and workers to keys."""

import sqlalchemy as sa

from parlour.stores.columns import TEXT, add

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None
phase = "expand"


def upgrade() -> None:
    add("api_keys", sa.Column("labels", TEXT, nullable=False), "[]", keep_default=True)
    add("api_keys", sa.Column("runners", TEXT, nullable=False), "[]", keep_default=True)
    add("runtimes", sa.Column("key_id", TEXT, nullable=False), "", keep_default=True)
