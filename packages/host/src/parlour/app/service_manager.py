"""Reports readiness and liveness to a service manager such as systemd, with `Type=notify` and `WatchdogSec=`."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable, Mapping

START_POLL_SECONDS = 0.2


class ServiceManager:
    """Sends states to the socket that the service manager named. Without one it does nothing."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        address = environment.get("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        is_watched = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        self._watchdog_seconds = int(environment.get("WATCHDOG_USEC", 0)) / 1_000_000 if is_watched else 0

    async def serve(self, is_ready: Callable[[], bool]) -> None:
        """Reports that the Host is ready, and from then on regularly that its event loop runs."""
        if not self._address:
            return
        while not is_ready():
            self._send("WATCHDOG=1")
            await asyncio.sleep(START_POLL_SECONDS)
        self._send("READY=1")
        while self._watchdog_seconds:
            self._send("WATCHDOG=1")
            await asyncio.sleep(self._watchdog_seconds / 3)

    def report_stopping(self) -> None:
        self._send("STOPPING=1")

    def _send(self, state: str) -> None:
        if not self._address:
            return
        # The Host goes on where its service manager does not listen.
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            sender.sendto(state.encode(), self._address)
