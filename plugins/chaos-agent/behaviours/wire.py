"""Direct access to the plugin's end of the wire, as a hostile plugin can find it in its process."""

import fcntl
import gc
import json
import os
import stat
from typing import Any

from parlour_sdk.wire import Peer


def descriptor() -> int:
    """Returns the descriptor of the pipe to which the worker writes its frames."""
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
    """Returns whether the descriptor belongs to the event loop's own socket pair, whose ends both read and write."""
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
