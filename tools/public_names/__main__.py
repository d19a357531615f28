"""`python -m tools.public_names` writes the snapshot of public names that a test compares with the code."""

from . import SNAPSHOT, collect, to_text

SNAPSHOT.write_text(to_text(collect()), encoding="utf-8")
