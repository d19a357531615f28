"""Chooses the first backend that works here, and chooses again when it stops working."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from parlour.core.box.messages import SessionSpec
from parlour_sdk.values import dataclass

from .backend import Backend, BackendInfo, BackendUnavailable, Fields, Sandbox, SandboxFolders
from .errors import BoxError

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BackendCandidate:
    """A backend that may be chosen."""

    name: str
    make: Callable[[], Backend]


@dataclass(frozen=True, slots=True)
class RefusedBackend:
    """A backend that does not work here, and why."""

    name: str
    error: BackendUnavailable

    def fields(self) -> Fields:
        error = self.error
        return {
            "backend": self.name,
            "problem": error.problem,
            "reason": error.reason,
            "remedy": error.remedy,
            "command": error.command,
        }


class ChosenBackend:
    """The first of some backends that works."""

    def __init__(self, candidates: Sequence[BackendCandidate]) -> None:
        self._candidates = candidates
        self._used: dict[str, Backend] = {}
        self._current: Backend | None = None
        self._choosing = asyncio.Lock()
        self.refused: list[RefusedBackend] = []
        """The backends that were tried before the chosen one."""
        self.info: BackendInfo | None = None

    async def probe(self) -> BackendInfo:
        refused: list[RefusedBackend] = []
        for candidate in self._candidates:
            backend = self._used.get(candidate.name) or candidate.make()
            try:
                self.info = await backend.probe()
            except BackendUnavailable as error:
                refused.append(RefusedBackend(candidate.name, error))
                continue
            self.refused, self._current = refused, backend
            self._used[candidate.name] = backend
            return self.info
        self.refused = refused
        raise _most_promising(refused)

    async def remove_orphans(self) -> int:
        return await self._chosen().remove_orphans()

    async def start(self, spec: SessionSpec, folders: SandboxFolders, on_event: Callable[[Fields], None]) -> Sandbox:
        backend = self._chosen()
        try:
            return await backend.start(spec, folders, on_event)
        except BoxError as error:
            if error.code != "backend_unavailable" or not await self._replace(backend):
                raise
        return await self._chosen().start(spec, folders, on_event)

    async def close(self) -> None:
        for backend in self._used.values():
            await backend.close()

    async def _replace(self, failed: Backend) -> bool:
        """Chooses again if a backend does not work any more. Returns whether there is another one now."""
        async with self._choosing:
            if self._current is not failed:
                return True
            try:
                await self.probe()
            except BackendUnavailable as error:
                raise BoxError("backend_unavailable", str(error), retryable=True) from error
            if self._current is failed:
                return False
            assert self.info is not None
            logger.warning("the backend does not work any more; sandboxes are made by %s now", self.info.name)
            await self.remove_orphans()
            return True

    def _chosen(self) -> Backend:
        if self._current is None:
            raise BoxError("not_ready", "the backend was not probed", retryable=True)
        return self._current


def _most_promising(refused: Sequence[RefusedBackend]) -> BackendUnavailable:
    """Returns the error of the first backend that is installed, or of the first at all."""
    installed = (each.error for each in refused if each.error.problem != "not_installed")
    return next(installed, refused[0].error)
