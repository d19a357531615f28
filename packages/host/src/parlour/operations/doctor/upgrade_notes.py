"""Repeats what the changelog says needs attention, for a month after an upgrade."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

from parlour.app.data_directory import DataDirectory
from parlour.app.release_record import read_release
from parlour.app.settings import HostSettings

from .finding import Finding, warning

NOTES = Path(__file__).with_name("needs_attention.txt")
"""One note per line. `make documents` copies them from the changelog."""
REPEATED_DAYS = 30


async def check(settings: HostSettings) -> AsyncIterator[Finding]:
    """Yields a warning for each note if the data directory was used by an older release until recently."""
    record = read_release(DataDirectory(settings.data))
    if record is None or not record.before:
        return
    if time.time() * 1000 - record.since > REPEATED_DAYS * 24 * 3600 * 1000:
        return
    for note in NOTES.read_text(encoding="utf-8").splitlines():
        remedy = f"do or check it once; this note is repeated for {REPEATED_DAYS} days after the upgrade"
        yield warning("upgrade", note, remedy)
