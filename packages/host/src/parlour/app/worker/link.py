"""Keeps the connection of a worker with its Host: opens it, says hello, follows notices, and opens it again."""

import asyncio
import logging
import uuid
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from math import inf
from typing import Any, Final, Protocol

from pydantic import ValidationError

from parlour.core.backoff import Backoff
from parlour.core.model.ids import RunId, RunnerId, RuntimeId
from parlour.http.workers import messages
from parlour.version import VERSION
from parlour_sdk.protocol.runtimes import ProviderLogin
from parlour_sdk.values import dataclass
from parlour_sdk.wire import ConnectionClosed, Peer, WireError
from parlour_sdk.wire.limits import DEFAULT_LIMITS
from parlour_sdk.wire.websocket import connect

logger = logging.getLogger(__name__)

LIMITS: Final = replace(
    DEFAULT_LIMITS,
    frame_bytes=DEFAULT_LIMITS.frame_bytes + messages.FRAME_GROWTH_BYTES,
    frames_per_second=inf,
    bytes_per_second=inf,
)
OPEN_SECONDS: Final = 10.0
FATAL_CODES: Final = frozenset(
    ("unauthorized", "denied", "not_supported", "invalid_argument", "not_found", "tls_failed")
)
"""Codes of refusals that trying again does not change."""


class HostRefused(Exception):
    """Raised when the Host refuses this worker for good; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class WorkerIdentity:
    """The Host that a worker serves, and how it introduces itself there."""

    url: str
    token: Callable[[], str]
    name: RuntimeId
    labels: Sequence[str] | None
    slots: int
    lease_seconds: float
    workspaces: Sequence[str] = ()
    providers: Sequence[ProviderLogin] = ()

    @property
    def address(self) -> str:
        """Address of the WebSocket."""
        return f"ws{self.url.removeprefix('http').rstrip('/')}/api/v1{messages.CONNECT_PATH}"


class NoticeReceiver(Protocol):
    """Learns from the Host about runs."""

    def held(self) -> Mapping[RunId, str]:
        """Returns the runs that are executed here, with their leases."""
        ...

    def on_connected(self) -> None: ...

    def on_queued(self) -> None: ...

    def on_ended(self, run_id: RunId) -> None:
        """Called for a run that this worker has to stop executing."""
        ...


class WorkerLink:
    """The connection with the Host. Calls wait for it while it is down."""

    def __init__(
        self,
        identity: WorkerIdentity,
        runners: Callable[[], list[RunnerId]],
        receiver: NoticeReceiver,
        retries: Backoff,
    ) -> None:
        self._identity = identity
        self._runners = runners
        self._receiver = receiver
        self._retries = retries
        self._instance = uuid.uuid4().hex
        self._peer: Peer | None = None
        self._connected = asyncio.Event()
        self._was_connected = False
        self.number = 0
        """Number of the current connection."""

    async def keep(self) -> None:
        """Keeps the connection. Raises HostRefused if the Host does not accept this worker."""
        reported = ""
        while True:
            try:
                await self._serve()
                reason = "the Host closed the connection"
            except WireError as error:
                reason = error.message
                if self._is_fatal(error):
                    raise HostRefused(f"the Host at {self._identity.url} refuses this worker: {reason}") from error
            finally:
                self._connected.clear()
            if reason != reported or self._was_connected:  # logged once, not with every attempt
                logger.warning("the Host at %s can't be reached: %s", self._identity.url, reason)
            reported = reason
            await asyncio.sleep(self._retries.next_delay())

    def reconnect(self, reason: str) -> None:
        """Closes the connection, so that the worker introduces itself again."""
        if self._peer is not None:
            self._peer.close(reason)

    async def call(self, action: str, data: Any, timeout: float | None = None) -> Any:
        """Calls the Host once it is connected. Raises ConnectionClosed if the outcome is not known."""
        return await (await self.connected()).call(action, data, timeout)

    async def connected(self) -> Peer:
        while self._peer is None or self._peer.closed:
            self._connected.clear()
            await self._connected.wait()
        return self._peer

    async def close(self) -> None:
        if self._peer is not None:
            await self._peer.aclose("the worker stops")

    def _is_fatal(self, error: WireError) -> bool:
        """Returns whether another attempt is useless. A worker that has served waits for a Host that is replaced."""
        codes = {"unauthorized"} if self._was_connected else FATAL_CODES
        return error.code in codes and not isinstance(error, ConnectionClosed)

    async def _serve(self) -> None:
        identity = self._identity
        transport = await connect(
            identity.address, identity.token(), LIMITS, patience=identity.lease_seconds / 2, timeout=OPEN_SECONDS
        )
        peer = Peer(transport, _NoCalls(), LIMITS, name="host")
        peer.start()
        try:
            await self._hello(peer)
            async with aclosing(peer.stream("watch", {})) as notices:
                self._retries.reset()
                self._was_connected = True
                self._peer = peer
                self.number += 1
                self._connected.set()
                self._receiver.on_connected()
                async for part in notices:
                    notice = messages.parse(messages.NoticeMessage, part)
                    for run_id in notice.ended:
                        self._receiver.on_ended(run_id)
                    if notice.queued:
                        self._receiver.on_queued()
        finally:
            peer.close("the worker closes the connection")

    async def _hello(self, peer: Peer) -> None:
        identity, held = self._identity, self._receiver.held()
        hello = messages.WorkerHello(
            protocol=messages.WORKER_PROTOCOL_VERSION,
            version=VERSION,
            name=identity.name,
            instance=self._instance,
            labels=None if identity.labels is None else list(identity.labels),
            runners=self._runners(),
            slots=identity.slots,
            lease_seconds=identity.lease_seconds,
            workspaces=list(identity.workspaces),
            providers=list(identity.providers),
            held=[messages.RunLease(run_id=run_id, lease=lease) for run_id, lease in held.items()],
        )
        answer = await peer.call("hello", hello.model_dump(mode="json"), timeout=OPEN_SECONDS)
        try:
            welcome = messages.WorkerWelcome.model_validate(answer)
        except ValidationError as error:
            raise WireError("not_supported", "what answers there does not serve workers; check the address") from error
        for run_id in welcome.lost:
            self._receiver.on_ended(run_id)
        logger.info("connected with the Host at %s as worker %s", identity.url, identity.name)


class _NoCalls:
    """Refuses all calls: a Host sends notices only."""

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any]:
        raise WireError("not_supported", f"a worker has no action '{action}'")
