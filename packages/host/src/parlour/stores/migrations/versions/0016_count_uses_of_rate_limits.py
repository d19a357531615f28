"""Adds the counters of rate limits, and the versions of tables that Hosts cache. Tag: expand."""

import sqlalchemy as sa
from alembic import op

from parlour.stores.columns import integer, on_postgres, text

revision = "0016"
down_revision = "0015"
phase = "expand"
branch_labels = None
depends_on = None


NOTIFY = """
CREATE FUNCTION notify_of_versions() RETURNS trigger LANGUAGE plpgsql AS
$notify$ BEGIN PERFORM pg_notify('parlour_versions', ''); RETURN NULL; END $notify$
"""
TRIGGER = """
CREATE TRIGGER versions_notify AFTER INSERT OR UPDATE ON versions
FOR EACH STATEMENT EXECUTE FUNCTION notify_of_versions()
"""


def upgrade() -> None:
    op.create_table(
        "limits",
        *text("policy_id subject shape conversation_id"),
        *integer("window used previous full_at expires_at"),
        sa.PrimaryKeyConstraint("policy_id", "subject", "shape"),
        sqlite_strict=True,
    )
    op.create_index("limits_by_subject", "limits", ["subject"])
    op.create_index("limits_by_conversation_id", "limits", ["conversation_id"])
    op.create_index("limits_by_expires_at", "limits", ["expires_at"])
    op.create_table(
        "versions",
        *text("name"),
        *integer("version"),
        sa.PrimaryKeyConstraint("name"),
        sqlite_strict=True,
    )
    if on_postgres():
        op.execute(NOTIFY)
        op.execute(TRIGGER)
