"""Polls for a change by another process that sends no notification."""

import time
from collections.abc import Callable


def eventually(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:g} s"
        time.sleep(0.01)
