"""Keeps a bot of WeCom or WeChat connected whose platform calls the Host: it needs only a valid access token."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress

from parlour.core.backoff import Backoff
from parlour.core.platforms.port import (
    AdapterStopped,
    HostLink,
    PlatformRefused,
    PlatformUncertain,
)

from .errcode_client import ErrcodeClient, ErrcodeRefused
from .login import log_in

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
            await log_in(self._link, self._backoff, lambda: self._connect(client))
            self._backoff.reset()
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
        try:
            await client.tokens.get()
        except ErrcodeRefused as refused:
            if refused.code in self._stop_codes:
                raise AdapterStopped(self._stop_codes[refused.code]) from None
            raise
