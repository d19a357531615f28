"""The plugin's own end of the wire, laid bare: what a hostile plugin finds in its process."""

import fcntl
import gc
import json
import os
import stat
from typing import Any

from parlour_sdk.wire import Peer


def descriptor() -> int:
    """The pipe that the worker writes its frames to."""
    for number in range(3, 64):
        try:
            mode, flags = os.fstat(number).st_mode, fcntl.fcntl(number, fcntl.F_GETFL)
        except OSError:
            continue
        writes = flags & os.O_ACCMODE in (os.O_WRONLY, os.O_RDWR)
        if writes and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)) and not _is_the_loops(number):
            return number
    raise LookupError("no pipe to the Host was found")


def _is_the_loops(number: int) -> bool:
    """The event loop has a socket pair of its own, whose ends both read and write."""
    return stat.S_ISSOCK(os.fstat(number).st_mode) and fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDWR


def write(data: bytes) -> None:
    number = descriptor()
    os.set_blocking(number, True)
    while data:
        data = data[os.write(number, data) :]


def frame(content: Any) -> None:
    write(json.dumps(content).encode() + b"\n")


def peer() -> Peer:
    return next(each for each in gc.get_objects() if isinstance(each, Peer))
