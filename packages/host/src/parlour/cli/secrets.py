"""`parlour secrets rotate`: seals all stored secrets with a new key, whether the Host runs or not."""

import asyncio
import contextlib
import os
import signal
import time

from parlour.app.data_directory import DataDirectory, DataDirectoryInUse, DataDirectoryUnusable
from parlour.app.secret_key import FileSecretBox
from parlour.app.secret_rotation import SETTLE_SECONDS, SecretRotation
from parlour.app.settings import HostSettings
from parlour.core.journal import StorageFailed
from parlour.core.system import SystemClock
from parlour.stores.factory import open_journal

from .main import CommandError

HOST_SECONDS = 60.0
"""Seconds to wait until a running Host has sealed all secrets again."""
POLL_SECONDS = 0.02


def rotate(settings: HostSettings) -> None:
    """Begins a replacement of the key, or takes up one that was interrupted, and completes it."""
    directory = DataDirectory(settings.data)
    box = FileSecretBox(directory.secret_key)
    try:
        directory.create()
        box.check()
        if box.files.is_replacing():
            print("a replacement that was interrupted is completed")
        box.files.begin()
        if _is_done_by_host(directory, box):
            print(
                "the running Host has sealed all secrets with a new key; "
                f"it deletes the old one in {SETTLE_SECONDS:g} seconds"
            )
        else:
            number = asyncio.run(_rotate_here(settings, directory, box))
            print(f"{number} secrets were sealed with a new key, and the old key was deleted")
    except (DataDirectoryInUse, DataDirectoryUnusable) as error:
        raise CommandError(str(error)) from error
    except StorageFailed as error:
        raise CommandError(f"{error.message} Both keys are kept; run the command again.") from error
    except OSError as error:
        problem = f"the key files beside '{directory.secret_key}' can't be written ({error.strerror or error})"
        raise CommandError(f"{problem}: let the user that runs Parlour write to that folder") from error


def _is_done_by_host(directory: DataDirectory, box: FileSecretBox) -> bool:
    """Lets a running Host complete the replacement. Returns false if none runs."""
    deadline = time.monotonic() + HOST_SECONDS
    pid = directory.serving_pid()
    if pid is None:
        return False
    with contextlib.suppress(ProcessLookupError):  # it has just ended
        os.kill(pid, signal.SIGHUP)
    while box.files.next.exists():
        if directory.serving_pid() != pid:
            return False
        if time.monotonic() > deadline:
            raise CommandError(
                f"the running Host (process {pid}) has not sealed all secrets within {HOST_SECONDS:g} s; "
                "it goes on, both keys are kept, and its log says why"
            )
        time.sleep(POLL_SECONDS)
    return True


async def _rotate_here(settings: HostSettings, directory: DataDirectory, box: FileSecretBox) -> int:
    """Completes the replacement in this process, with the lock of a Host."""
    with directory.lock():
        url = settings.database.url.get_secret_value()
        async with open_journal(url, directory.database, exclusive=True) as journal:
            return await SecretRotation(journal, SystemClock(), box, _nothing, _nothing).complete()


async def _nothing() -> None:
    """Reloads nothing and waits for nothing: no other process has a copy of the configuration."""
