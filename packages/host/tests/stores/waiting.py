"""Waits for what another process does, which tells of nothing and has to be asked."""

import time
from collections.abc import Callable


def eventually(is_so: Callable[[], bool], seconds: float = 20) -> None:
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until, f"not within {seconds:g} s"
        time.sleep(0.01)
