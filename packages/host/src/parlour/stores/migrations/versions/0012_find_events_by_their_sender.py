"""Events are found by their sender, so that the runs of one sender are listed without reading all runs."""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None
phase = "expand"


def upgrade() -> None:
    op.create_index("events_by_actor_id_seq", "events", ["actor_id", "seq"])
