"""Reloads cached configuration after another Host has changed it.

Notices make that quick and versions make it certain: versions are compared after each notice and at intervals, so a
notice that is lost only delays the reload.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from parlour.core.journal import Journal, StorageFailed
from parlour.core.store.table_versions import read_versions

logger = logging.getLogger(__name__)

POLL_SECONDS = 5.0
"""Seconds between two comparisons of the versions without a notice."""

Reload = Callable[[], Awaitable[None]]


class ChangeNotices(Protocol):
    """Notices from the database that a version has changed."""

    async def wait(self) -> None:
        """Returns after the next notice. May return without one; may miss one."""
        ...


class NoChangeNotices:
    """Notices of a database that sends none: changes are found by comparing versions."""

    async def wait(self) -> None:
        """Waits without end."""
        await asyncio.Event().wait()


class ChangeWatcher:
    """Compares the versions of cached tables and reloads those that have changed."""

    def __init__(
        self,
        journal: Journal,
        notices: ChangeNotices,
        reloads: Mapping[str, Reload],
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self._journal = journal
        self._notices = notices
        self._reloads = reloads
        self._poll_seconds = poll_seconds
        self._versions: dict[str, int] = {}

    async def start(self) -> None:
        """Reads the versions. Call it before the configuration is loaded, so that no change is missed between."""
        self._versions = await read_versions(self._journal)

    async def serve(self) -> None:
        """Reloads changed tables for as long as the Host runs."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._poll_seconds):
                    await self._notices.wait()
            try:
                await self.reload_changed()
            except StorageFailed as failure:
                logger.error("reloading the configuration waits for the database: %s", failure.message)

    async def reload_changed(self) -> None:
        """Reloads each table whose version is another one than at its last reload.

        The version is read before the rows, so the rows are at least as new. Changes of this Host are reloaded too.
        """
        for name, version in (await read_versions(self._journal)).items():
            if self._versions.get(name) != version and name in self._reloads:
                await self._reloads[name]()
            self._versions[name] = version
