"""Watches the size of a workspace, and reports when it is over its quota. The kernel does not enforce this quota."""

import asyncio
import os
import time
from pathlib import Path

MEBIBYTE = 1024 * 1024
TOLERANCE = 1.1
LOOK_SECONDS = 1.0
"""Seconds between two looks, or more if a look takes long."""
PAUSE_PER_LOOK = 20
"""Seconds of pause per second of looking, so that a workspace with many files costs at most 5 % of a core."""


async def wait_until_over(folder: Path, quota_mb: int) -> int:
    """Waits until the files of a folder are over the quota, and returns their bytes.

    A folder that is over it from the beginning may not grow, so that it can still be cleaned up.
    """
    limit = max(quota_mb * MEBIBYTE * TOLERANCE, await asyncio.to_thread(used_bytes, folder))
    while True:
        began = time.monotonic()
        used = await asyncio.to_thread(used_bytes, folder)
        if used > limit:
            return used
        await asyncio.sleep(max(LOOK_SECONDS, (time.monotonic() - began) * PAUSE_PER_LOOK))


def used_bytes(folder: Path) -> int:
    """Returns the bytes that the files of a folder use on disk. Files that vanish during the count are left out."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_blocks * 512
            except OSError:
                continue
    return total
