"""Adds the addresses of the Hosts of a cluster, and whether they give their parts away. Tag: expand."""

from parlour.stores.columns import add, integer, text

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None
phase = "expand"


def upgrade() -> None:
    for column in text("address"):
        add("hosts", column, "", keep_default=True)
    for number in integer("draining"):
        add("hosts", number, "0", keep_default=True)
