"""Replaces the key of a data directory as `parlour secrets rotate` does, and dies before the given step:
`python -m tests.crash.key_rotation DATA STEP`.

A step is an operation on a key file, or the time before or after a commit.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import cast

from parlour.app.data_directory import DataDirectory
from parlour.app.secret_key import FileSecretBox
from parlour.app.secret_rotation import SecretRotation
from parlour.core.journal import Journal
from parlour.core.system import SystemClock
from parlour.stores.factory import open_journal
from parlour.testing.faults import Fault, FaultyJournal

FILE_OPERATIONS = {"open", "os.link", "os.rename", "os.remove"}


class Steps(Fault):
    """Dies before the step with this number."""

    def __init__(self, number: int) -> None:
        self._left = number

    def at(self, name: str) -> None:
        self._left -= 1
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)

    def audit(self, event: str, arguments: tuple[object, ...]) -> None:
        """Counts what Python is about to do with a key file."""
        if event in FILE_OPERATIONS and "secret.key" in str(arguments[0]):
            self.at(event)


async def rotate(data: Path, steps: Steps) -> None:
    directory = DataDirectory(data)
    box = FileSecretBox(directory.secret_key)
    box.files.begin()
    async with open_journal("", directory.database, exclusive=True) as journal:
        faulty = cast(Journal, FaultyJournal(journal, steps))
        await SecretRotation(faulty, SystemClock(), box, nothing, nothing).complete()


async def nothing() -> None:
    """Has no configuration in memory to read again."""


def main(data: str, number: str) -> None:
    steps = Steps(int(number))
    sys.addaudithook(steps.audit)
    asyncio.run(rotate(Path(data), steps))


if __name__ == "__main__":
    main(*sys.argv[1:])
