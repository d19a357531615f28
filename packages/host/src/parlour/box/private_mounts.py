"""Gives the process mounts of its own, which the kernel removes with it, however it ends."""

import ctypes
import os
import sys
from typing import Final

NEW_MOUNT_NAMESPACE: Final = 0x20000
RECURSIVE: Final = 0x4000
RECEIVES_ONLY: Final = 0x80000
"""MS_SLAVE: mounts of the machine are seen here, and those of this process are not seen elsewhere."""


class PrivateMounts:
    """Says whether this process has mounts of its own."""

    is_entered = False

    @classmethod
    def enter(cls) -> bool:
        """Separates the mounts of this process from those of the machine. Must be called before threads are started."""
        if cls.is_entered or sys.platform != "linux" or os.geteuid() != 0:
            return cls.is_entered
        library = ctypes.CDLL(None, use_errno=True)
        separated = library.unshare(NEW_MOUNT_NAMESPACE) == 0
        cls.is_entered = separated and library.mount(b"none", b"/", None, RECURSIVE | RECEIVES_ONLY, None) == 0
        return cls.is_entered
