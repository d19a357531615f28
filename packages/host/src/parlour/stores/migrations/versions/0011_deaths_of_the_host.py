"""Counts per event of failed runs and of deaths of the Host, from which quarantine is decided."""

from parlour.stores.columns import add, integer

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None
phase = "contract"


def upgrade() -> None:
    for column in integer("in_flight failures deaths lone_deaths"):
        add("inbox", column, "0")
