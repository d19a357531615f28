"""Which of a plugin's handlers are past an event that it has yet to hear."""

from parlour.stores.columns import add, text

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None
phase = "contract"


def upgrade() -> None:
    for column in text("past"):
        add("listening", column, "")
