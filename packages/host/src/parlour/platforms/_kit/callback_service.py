"""Keeps a bot of WeCom or WeChat connected whose platform calls the Host: it needs only a valid access token."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress

from parlour.core.backoff import Backoff
from parlour.core.platforms.port import (
    AdapterStopped,
    HostLink,
    PlatformOffline,
    PlatformRefused,
    PlatformUncertain,
)

from .errcode_client import ErrcodeClient, ErrcodeRefused

CHECK_INTERVAL_SECONDS = 300.0


class CallbackService:
    """Reports a bot as connected as soon as the platform accepts its secrets."""

    def __init__(self, link: HostLink, service: str, backoff: Backoff, stop_codes: Mapping[int, str]) -> None:
        """`stop_codes` names the refusals that only another configuration can end, each with what to do."""
        self._link = link
        self._service = service
        self._backoff = backoff
        self._stop_codes = stop_codes
        self.is_connected = False

    async def serve(self, client: ErrcodeClient, on_connected: Callable[[], object] = lambda: None) -> None:
        """Fetches a token, tries again until it succeeds, and then renews it ahead of time. Raises AdapterStopped."""
        self._link.report_status("connecting")
        try:
            await self._connect(client)
            self.is_connected = True
            on_connected()
            while True:
                self._link.report_status("connected")
                await asyncio.sleep(CHECK_INTERVAL_SECONDS)
                with suppress(PlatformRefused, PlatformUncertain):  # a call that needs the token reports it
                    await client.tokens.get()
        finally:
            self.is_connected = False

    async def _connect(self, client: ErrcodeClient) -> None:
        while True:
            try:
                await client.tokens.get()
                self._backoff.reset()
                return
            except (PlatformRefused, PlatformUncertain) as error:
                if isinstance(error, ErrcodeRefused) and error.code in self._stop_codes:
                    raise AdapterStopped(self._stop_codes[error.code]) from None
                seconds = self._backoff.next_delay()
                problem = str(error)
                if isinstance(error, PlatformOffline):
                    problem = f"{error}; check the network, a proxy, or api_base_url"
                self._link.report_status("connecting", f"{problem}; trying again in {seconds:.0f} s")
                await asyncio.sleep(seconds)


def required(link: HostLink, name: str, reason: str) -> str:
    """Returns a field of the configuration. Raises AdapterStopped if it is empty."""
    value = str(link.config.get(name) or "").strip()
    if not value:
        raise AdapterStopped(f"{name}: {reason}")
    return value
