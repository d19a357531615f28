"""Chooses the event loop of long-running commands."""

import asyncio
import sys
from collections.abc import Callable


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Returns the factory of uvloop, or None on Windows, where uvloop does not run."""
    if sys.platform == "win32":
        return None
    import uvloop

    return uvloop.new_event_loop
