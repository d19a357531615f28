"""Brings a bot in: reads what its configuration must have, and tries the first call until the platform answers."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from parlour.core.backoff import Backoff
from parlour.core.platforms.port import AdapterStopped, HostLink, PlatformOffline, PlatformRefused, PlatformUncertain

Answer = TypeVar("Answer")


def required(link: HostLink, name: str, reason: str) -> str:
    """Returns a field of the configuration. Raises AdapterStopped if it is empty."""
    value = str(link.config.get(name) or "").strip()
    if not value:
        raise AdapterStopped(f"{name}: {reason}")
    return value


async def log_in(link: HostLink, backoff: Backoff, attempt: Callable[[], Awaitable[Answer]]) -> Answer:
    """Makes an attempt until the platform answers, and reports the problem of each one that failed.

    An attempt that another one can't mend raises AdapterStopped.
    """
    while True:
        try:
            return await attempt()
        except (PlatformRefused, PlatformUncertain) as error:
            seconds = backoff.next_delay()
            problem = str(error)
            if isinstance(error, PlatformOffline):
                problem = f"{error}; check the network, a proxy, or api_base_url"
            link.report_status("connecting", f"{problem}; trying again in {seconds:.0f} s")
            await asyncio.sleep(seconds)
