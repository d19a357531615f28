"""Runs each session in a sandbox of E2B, with the agent inside. Files are copied there, and back at the end.

The library is loaded when this backend is tried.
"""

import asyncio
import contextlib
import hashlib
import importlib
import importlib.util
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from parlour.core.box.messages import E2bAccount, SessionSpec

from ..backend import BackendInfo, BackendUnavailable, Fields, SandboxFolders
from ..errors import BoxError
from ..inside import AGENT_INSIDE, ENVIRONMENT, resource_limits
from ..mount_policy import MountPolicy
from .channel import E2bChannel, library_failures
from .sandbox_files import COPY_SECONDS, E2bTransfers
from .transfer import pack, pack_shown

logger = logging.getLogger(__name__)

OWNER_FIELD: Final = "parlour_box"
LIFE_SECONDS: Final = 600
"""Seconds after which the service ends a sandbox that no Box has kept alive."""
KEEP_SECONDS: Final = 180.0
START_SECONDS: Final = 60.0
NOTICE: Final = "CPU is that of the template, and memory is limited per process"


class E2bBackend:
    """Starts sandboxes of one account."""

    def __init__(
        self,
        account: E2bAccount,
        root: Path,
        workspace_mb: int,
        wheels: Path | None = None,
        mounts: MountPolicy | None = None,
    ) -> None:
        """`wheels` is the folder with Python packages for sandboxes without a network."""
        self._account = account
        self._workspace_mb = workspace_mb
        self._wheels = wheels
        self._mounts = mounts or MountPolicy((), ())
        self._owner = hashlib.sha256(str(root).encode()).hexdigest()[:16]
        self._library: Any = None

    async def probe(self) -> BackendInfo:
        if not self._account.api_key:
            raise BackendUnavailable("E2B has no key", "set box.e2b.api_key", problem="not_installed")
        if importlib.util.find_spec("e2b") is None:
            command = "pip install 'parlour[e2b]'"
            raise BackendUnavailable("the library of E2B is not installed", "install it", command, "not_installed")
        self._library = library = await asyncio.to_thread(importlib.import_module, "e2b")
        try:
            await self._mine()
        except library.AuthenticationException as error:
            raise BackendUnavailable(
                f"E2B refuses the key ({error})", "correct box.e2b.api_key", "", "denied"
            ) from error
        except Exception as error:  # the library passes on errors of several HTTP libraries
            remedy = "check the network and box.e2b.api_url"
            raise BackendUnavailable(f"E2B does not answer ({str(error)[:300]})", remedy) from error
        version = importlib.import_module("importlib.metadata").version("e2b")
        return BackendInfo("e2b", f"e2b {version}", "rlimit", "remote", NOTICE)

    async def remove_orphans(self) -> int:
        found = await self._mine()
        for each in found:
            await self._library.AsyncSandbox.kill(sandbox_id=each.sandbox_id, **self._options)
        return len(found)

    async def start(
        self, spec: SessionSpec, folders: SandboxFolders, on_event: Callable[[Fields], None]
    ) -> "E2bSandbox":
        if self._library is None:
            raise BoxError("not_ready", "the backend was not probed", retryable=True)
        shown = await asyncio.to_thread(self._pack_shown, spec) if spec.mounts else b""
        content, manifest = await asyncio.to_thread(pack, folders.workspace, self._workspace_mb)
        try:
            async with asyncio.timeout(START_SECONDS + COPY_SECONDS):
                remote = await self._library.AsyncSandbox.create(
                    self._account.template or None,
                    timeout=LIFE_SECONDS,
                    metadata={OWNER_FIELD: self._owner, "session": spec.session_id, "workspace": spec.workspace_id},
                    allow_internet_access=spec.network,
                    **self._options,
                )
        except Exception as error:
            message = f"E2B starts no sandbox ({str(error)[:300]})"
            raise BoxError("backend_unavailable", message, retryable=True) from error
        transfers = E2bTransfers(remote, folders.workspace, manifest, self._workspace_mb, self._wheels)
        sandbox = E2bSandbox(remote, spec, transfers)
        try:
            async with asyncio.timeout(START_SECONDS + COPY_SECONDS):
                await transfers.copy_in(content, dict(folders.skills), shown, spec.read_only)
                await sandbox.start(on_event)
        except BaseException as error:
            await sandbox.abandon()
            if not isinstance(error, Exception):
                raise
            message = f"the sandbox of E2B did not start ({str(error)[:300]})"
            raise BoxError("backend_unavailable", message, retryable=True) from error
        return sandbox

    async def close(self) -> None:
        """Holds nothing but its sandboxes."""

    def _pack_shown(self, spec: SessionSpec) -> bytes:
        with self._mounts.open(spec.mounts) as (_, descriptors):
            try:
                return pack_shown(dict(zip(spec.mounts, descriptors, strict=True)), self._workspace_mb)
            except OSError as error:
                raise BoxError("mount_refused", f"files to be shown can't be read: {error.strerror}") from error

    @property
    def _options(self) -> dict[str, Any]:
        account = self._account
        options = {"api_key": account.api_key, "api_url": account.api_url, "sandbox_url": account.sandbox_url}
        return {name: value for name, value in options.items() if value}

    async def _mine(self) -> list[Any]:
        """Returns the sandboxes that a Box of this folder has started."""
        query = self._library.SandboxQuery(metadata={OWNER_FIELD: self._owner})
        pages, found = self._library.AsyncSandbox.list(query=query, **self._options), []
        while pages.has_next:
            found += await pages.next_items()
        return found


class E2bSandbox:
    """A sandbox of the service, and the connection to its agent."""

    def __init__(self, remote: Any, spec: SessionSpec, transfers: E2bTransfers) -> None:
        self._remote = remote
        self._spec = spec
        self._transfers = transfers
        self._channel: E2bChannel | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._closing: asyncio.Future[None] | None = None

    @property
    def closed(self) -> asyncio.Event:
        assert self._channel is not None
        return self._channel.messages.closed

    async def start(self, on_event: Callable[[Fields], None]) -> None:
        """Starts the agent."""
        limits = json.dumps(resource_limits(self._spec.memory_mb, self._spec.processes))
        self._channel = await E2bChannel.open(
            self._remote, f"exec python3 -I -S {AGENT_INSIDE} '{limits}' -", dict(ENVIRONMENT), on_event
        )
        async with asyncio.timeout(START_SECONDS):
            await self._channel.messages.ready
        self._keeping = asyncio.create_task(self._keep(), name="e2b sandbox")

    async def request(self, operation: str, fields: Fields) -> Fields:
        assert self._channel is not None
        if fields.get("wheels"):
            try:
                await self._transfers.copy_wheels(str(fields["wheels"]))
            except library_failures() as error:
                message = f"the wheels of a skill can't be copied to E2B ({str(error)[:300]})"
                raise BoxError("backend_unavailable", message, retryable=True) from error
        return await self._channel.messages.request(operation, fields)

    def death_reason(self) -> str:
        return ""

    async def close(self) -> None:
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        await asyncio.shield(self._closing)

    async def abandon(self) -> None:
        """Ends the sandbox without its files."""
        if self._keeping is not None:
            self._keeping.cancel()
        if self._channel is not None:
            await self._channel.close()
        with contextlib.suppress(*library_failures()):  # the service ends it after its time
            await self._remote.kill()

    async def _close(self) -> None:
        if self._channel is not None:
            await self._channel.close()
        if not self._spec.read_only:
            try:
                async with asyncio.timeout(COPY_SECONDS):
                    await self._transfers.copy_back()
            except library_failures() as error:
                logger.warning("the files of a sandbox of E2B are lost since its start: %s", error)
        await self.abandon()

    async def _keep(self) -> None:
        """Keeps the sandbox from being ended while it is used."""
        while True:
            await asyncio.sleep(KEEP_SECONDS)
            with contextlib.suppress(*library_failures()):
                await self._remote.set_timeout(LIFE_SECONDS)
