"""Serves the Box to a Host elsewhere: WebSocket connections that a token admits, one Host at a time."""

import asyncio
import hmac
import logging
import os
import secrets
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from parlour.file_locks import try_lock_file
from parlour.version import VERSION
from parlour_sdk.values import dataclass
from parlour_sdk.wire import Peer
from parlour_sdk.wire.websocket import WebSocketTransport, serve_admitted

from .available_backends import make_backend
from .errors import BoxError
from .private_mounts import PrivateMounts
from .server import BoxServer

logger = logging.getLogger(__name__)

PATH: Final = "/box"
SILENCE_SECONDS: Final = 40.0
"""Seconds without data after which a Host counts as gone: two missed heartbeats."""
TOKEN_FILE: Final = "token"
LOCK_FILE: Final = "lock"


class BoxInUse(Exception):
    """Raised when another Box uses the folder."""


@dataclass(frozen=True, slots=True)
class BoxFolders:
    """The folders of a Box, which a Host elsewhere can't choose."""

    data: Path
    """Folder of everything that the Box keeps."""
    bubblewrap: Path | None = None
    mount_roots: tuple[Path, ...] = ()

    def localized(self, config: dict[str, Any]) -> dict[str, Any]:
        """Returns a Host's configuration with the folders of this machine."""
        return {
            **config,
            "root": str(self.data / "workspaces"),
            "skills_root": str(self.data / "skills"),
            "wheels": str(self.data / "wheels"),
            "hidden": [str(self.data)],
            "bubblewrap": str(self.bubblewrap or ""),
            "mount_roots": [str(root) for root in self.mount_roots],
        }


class HostConnection:
    """Serves one connection. Only the Host that has initialized the Box last may use it."""

    def __init__(self, box: "RemoteBox") -> None:
        self._box = box
        self.host_id = ""
        self.peer: Peer | None = None

    def dispatch(self, action: str, data: Any) -> Coroutine[Any, Any, Any] | AsyncGenerator[Any, None]:
        if action == "box_init":
            return self._box.initialize(self, data)
        if self._box.owner is not self:
            raise BoxError("not_ready", "the Box is not initialized; call box_init first", retryable=True)
        return self._box.server.dispatch(action, data)


class RemoteBox:
    """A Box with the connections of its Host. Sessions outlive a lost connection."""

    def __init__(self, folders: BoxFolders, token: str) -> None:
        self.server = BoxServer(make_backend, VERSION)
        self.owner: HostConnection | None = None
        self._folders = folders
        self._token = token
        self._connections: set[HostConnection] = set()

    def admit(self, secret: str) -> Callable[[str, WebSocketTransport], None] | None:
        """Returns what accepts a connection; None if it has not the token."""
        is_right = hmac.compare_digest(secret.encode(errors="replace"), self._token.encode())
        return self._accept if is_right else None

    async def initialize(self, connection: HostConnection, data: Any) -> dict[str, Any]:
        """Makes the connection the one that is served. Raises BoxError while another Host is connected."""
        fields = dict(data) if isinstance(data, dict) else {}
        connection.host_id = str(fields.get("host_id", ""))
        owner = self.owner
        if owner is not None and owner is not connection and owner.peer is not None and not owner.peer.closed:
            if owner.host_id != connection.host_id:
                raise BoxError(
                    "box_in_use", "another Host uses this Box; give each Host a Box of its own", retryable=True
                )
            owner.peer.close("the Host has connected again")
        config = fields.get("config")
        if isinstance(config, dict):
            fields["config"] = self._folders.localized(config)
        self.owner = None
        answer: dict[str, Any] = await self.server.initialize(fields)
        self.owner = connection
        return answer

    async def close(self) -> None:
        """Ends all sandboxes."""
        await self.server.close()

    def _accept(self, path: str, transport: WebSocketTransport) -> None:
        connection = HostConnection(self)
        connection.peer = Peer(transport, connection, name="host")
        self._connections.add(connection)
        connection.peer.start()
        task = asyncio.get_running_loop().create_task(connection.peer.wait_closed())
        task.add_done_callback(lambda done: self._connections.discard(connection))


@asynccontextmanager
async def serve(host: str, port: int, box: RemoteBox) -> AsyncIterator[int]:
    """Listens while the context is open; its value is the port."""
    admitted = serve_admitted(host, port, box.admit, accepts=lambda path: path == PATH, patience=SILENCE_SECONDS)
    async with admitted as bound:
        try:
            yield bound
        finally:
            await box.close()


async def run(host: str, port: int, folders: BoxFolders, announce: Callable[[str], None]) -> None:
    """Serves until the process is asked to stop. Raises BoxInUse, or OSError if the address can't be used."""
    PrivateMounts.enter()
    folders.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(folders.data / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not try_lock_file(lock):
            raise BoxInUse(f"another Box uses {folders.data}; name another folder with --data")
        stopping = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stopping.set)
        async with serve(host, port, RemoteBox(folders, read_token(folders.data))) as bound:
            announce(f"ws://{f'[{host}]' if ':' in host else host}:{bound}")
            await stopping.wait()
    finally:
        os.close(lock)


def read_token(data: Path) -> str:
    """Returns the token of a Box, which is made at its first start and kept in a file for its owner only."""
    file = data / TOKEN_FILE
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return file.read_text(encoding="ascii").strip()
    with os.fdopen(descriptor, "w") as output:
        output.write(f"{secrets.token_urlsafe(32)}\n")
    return file.read_text(encoding="ascii").strip()
