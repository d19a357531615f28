"""Keeps a Box connected: opens the connection, configures the Box, and opens it again when it ends.

Nothing is started before something needs the Box.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

from parlour.core.backoff import Backoff
from parlour.core.box.messages import BOX_PROTOCOL_VERSION, HEARTBEAT_SECONDS, BoxConfig
from parlour.core.box.status import BoxStatus
from parlour.core.model.providers import ProviderFailed
from parlour_sdk.wire import ConnectionClosed, Peer, WireError

from .connector import MISSED_HEARTBEATS, OpenBox, start_box

logger = logging.getLogger(__name__)

START_SECONDS: Final = 30.0
CALL_SECONDS: Final = 15.0
FIRST_RETRY_SECONDS: Final = 1.0
MAX_RETRY_SECONDS: Final = 60.0
RETURN_SECONDS: Final = 10.0
"""Seconds in which a Box that has ended is usually back."""


class BoxConnection:
    """The connection to one Box."""

    def __init__(self, config: BoxConfig, host_id: str, enabled: bool, open_box: OpenBox = start_box) -> None:
        self._open = open_box
        self._config = config
        self._host_id = host_id
        self.status = BoxStatus("connecting" if enabled else "disabled")
        self._task: asyncio.Task[None] | None = None
        self._peer: Peer | None = None
        self._changed = asyncio.Event()
        self._return_until = 0.0
        """Until when a Box that was ready and has ended is expected back."""

    def start(self) -> None:
        """Starts the Box unless it is started or disabled."""
        if self._task is None and self.status.state != "disabled":
            self._task = asyncio.create_task(self._keep(), name="box")

    @property
    def is_usable(self) -> bool:
        """True while the Box is ready, and shortly after its end, when calls wait until it is back."""
        return self.status.state == "ready" or self._return_seconds > 0

    async def wait_until_known(self, seconds: float) -> BoxStatus:
        """Starts the Box, and waits until it is ready or can't be."""
        self.start()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.status.state == "connecting":
                    self._changed.clear()
                    await self._changed.wait()
        return self.status

    async def call(self, action: str, data: Any, seconds: float = CALL_SECONDS) -> Any:
        """Makes a call. Raises ProviderFailed with the code of the Box."""
        self.start()
        await self._wait_until_back()
        peer = self._peer
        if peer is None or self.status.state != "ready":
            raise ProviderFailed("box_unavailable", f"the sandbox is not available: {self.unavailable_reason()}", True)
        try:
            return await peer.call(action, data, seconds)
        except ConnectionClosed as error:
            message = "the Box ended during the call, so whether it was done is not known; look before you repeat it"
            raise ProviderFailed("session_lost", message) from error
        except WireError as error:
            details = error.data if isinstance(error.data, dict) else {}
            raise ProviderFailed(error.code, error.message, bool(details.get("retryable"))) from error

    async def stream(self, action: str, data: Any) -> AsyncGenerator[Any, None]:
        """Yields the parts of a stream. Raises ProviderFailed."""
        peer = self._peer
        if peer is None or self.status.state != "ready":
            raise ProviderFailed("box_unavailable", f"the sandbox is not available: {self.unavailable_reason()}", True)
        try:
            async with aclosing(peer.stream(action, data)) as parts:
                async for part in parts:
                    yield part
        except ConnectionClosed as error:
            raise ProviderFailed("session_lost", "the Box has ended", True) from error
        except WireError as error:
            raise ProviderFailed(error.code, error.message) from error

    def unavailable_reason(self) -> str:
        """Returns why the Box can't be used; empty if it can."""
        match self.status.state:
            case "ready":
                return ""
            case "disabled":
                return "the setting box.enabled is off"
            case "connecting":
                return "it is starting"
            case _:
                return self.status.reason

    async def close(self) -> None:
        """Ends the Box with all its sandboxes."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        if self.status.state != "disabled":
            self._set(BoxStatus("disabled", "the Host is stopping"))

    @property
    def _return_seconds(self) -> float:
        has_ended = self._peer is None and self.status.state != "disabled"
        return self._return_until - time.monotonic() if has_ended else 0.0

    async def _wait_until_back(self) -> None:
        """Waits for a Box that has just ended, so that a call that begins in between is not refused."""
        while (seconds := self._return_seconds) > 0:
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._changed.wait()

    def _set(self, status: BoxStatus) -> None:
        if status.state != self.status.state and status.state in ("ready", "unavailable"):
            logger.info("the Box is %s%s", status.state, f": {status.reason}" if status.reason else "")
        self.status = status
        self._changed.set()

    async def _keep(self) -> None:
        retries = Backoff(FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS, jitter=1.0)
        while True:
            reason = await self._run_once(retries)
            if self.status.state != "unavailable":
                self._set(BoxStatus("unavailable", reason))
            await asyncio.sleep(retries.next_delay())

    async def _run_once(self, retries: Backoff) -> str:
        """Uses one connection until it ends. Returns why it ended."""
        try:
            async with self._open() as peer:
                return await self._serve(peer, retries)
        except OSError as error:
            return f"its process can't be started: {error.strerror}"
        except WireError as error:
            return error.message

    async def _serve(self, peer: Peer, retries: Backoff) -> str:
        try:
            facts = await peer.call("box_init", self._init(), START_SECONDS)
        except WireError as error:
            self._set(_failure(error))
            return error.message
        self._peer = peer
        self._set(BoxStatus("ready", facts=facts))
        retries.reset()
        try:
            return await self._watch(peer)
        finally:
            self._peer = None
            self._return_until = time.monotonic() + RETURN_SECONDS

    def _init(self) -> dict[str, Any]:
        config = self._config.model_dump(mode="json")
        return {"protocol": BOX_PROTOCOL_VERSION, "host_id": self._host_id, "config": config}

    async def _watch(self, peer: Peer) -> str:
        """Waits until the connection ends. A Box that misses two heartbeats counts as gone."""
        missed = 0
        while not peer.closed:
            try:
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    return await peer.wait_closed()
            except TimeoutError:
                pass
            try:
                await peer.call("ping", None, HEARTBEAT_SECONDS)
                missed = 0
            except WireError:
                missed += 1
                if missed == MISSED_HEARTBEATS:
                    return "it does not answer any more"
        return await peer.wait_closed()


def _failure(error: WireError) -> BoxStatus:
    details = error.data if isinstance(error.data, dict) else {}
    return BoxStatus(
        "unavailable",
        str(details.get("reason") or error.message),
        str(details.get("remedy") or ""),
        str(details.get("command") or ""),
        refused=list(details.get("refused") or ()),
    )
