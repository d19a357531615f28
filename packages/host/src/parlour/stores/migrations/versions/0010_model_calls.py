"""Prompt, parameters and answer of each model call (expand: no existing row changes)."""

import sqlalchemy as sa
from alembic import op

from parlour.stores.columns import integer, text

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None
phase = "expand"


def upgrade() -> None:
    op.create_table(
        "model_calls",
        *text("call_id run_id actor_type actor_id model_id outcome request answer"),
        *integer("truncated created_at finished_at"),
        sa.PrimaryKeyConstraint("call_id"),
        sqlite_strict=True,
    )
    op.create_index("model_calls_by_run_id", "model_calls", ["run_id"])
    op.create_index("model_calls_by_actor_type_actor_id", "model_calls", ["actor_type", "actor_id"])
