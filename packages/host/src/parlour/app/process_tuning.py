"""Tunes the process of a Host: garbage collection, the switching between threads, and the limit of open files."""

import gc
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

MIN_RESERVED_FILES: Final = 128
"""Open files that are reserved for the database, plugins and everything else; a quarter of all, if that is more."""
SHORT_SWITCH_SECONDS: Final = 0.0005
"""Seconds that a thread computes while another one waits for the interpreter, during work in the background."""
MAX_PAUSE_SECONDS: Final = 0.025
"""Longest pause between two steps of work in the background."""


def pause_garbage_collection() -> None:
    """Disables the garbage collector until the Host has started: objects that are created before stay."""
    gc.disable()


def resume_garbage_collection() -> None:
    """Enables the garbage collector with thresholds for a Host that has started.

    Objects that exist now stay, and a message leaves few reference cycles behind: collecting more often would cost a
    tenth of the time. The duration of a collection grows with the objects created since the last one, so a threshold
    ten times as large would stop everything for 40 ms. Older generations are collected too: under load, cycles that
    survive a few collections amount to some kilobytes per message. The start leaves too few cycles behind to be worth a
    collection before the freeze.
    """
    gc.freeze()
    gc.enable()
    gc.set_threshold(5_000, 20, 10)


@contextmanager
def loading_in_background() -> Iterator[Callable[[], None]]:
    """Lets a thread load modules for good while the event loop keeps working.

    A loop that waits for the interpreter gets it after half a millisecond instead of five, which it would wait in each
    of its iterations. Messages still queue up behind a long load, so the thread calls the yielded function between its
    steps: it sleeps half as long as the step took. The loaded objects are excluded from garbage collection.
    """
    usual = sys.getswitchinterval()
    sys.setswitchinterval(SHORT_SWITCH_SECONDS)
    step_started = time.monotonic()

    def pause() -> None:
        nonlocal step_started
        time.sleep(min((time.monotonic() - step_started) / 2, MAX_PAUSE_SECONDS))
        step_started = time.monotonic()

    try:
        yield pause
    finally:
        sys.setswitchinterval(usual)
    gc.freeze()


def connections_within_file_limit(configured: int) -> int:
    """Returns `configured`, or less if the limit of open files is lower."""
    import resource  # Windows has no such module

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return configured
    return max(1, min(configured, files - max(MIN_RESERVED_FILES, files // 4)))
