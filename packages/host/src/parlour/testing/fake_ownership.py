"""Provides an ownership of parts that a test can take away, pause and fence."""

import asyncio
from collections.abc import Awaitable

from parlour.core.cluster.ownership import PartLost
from parlour.core.journal import Delete, Insert, Statement, where
from parlour.core.model.ids import PartId
from parlour.core.store.tables import META


class FakeOwnership:
    """Owns every part until the database has a row that says that the part has moved (`move`).

    `pause` closes the gate of effects until `resume` or `fence`.
    """

    is_sole = False

    def __init__(self) -> None:
        self.guarded: list[PartId] = []
        """Parts for which units were guarded, in order."""
        self.waiting = 0
        """Number of effects that wait at the gate."""
        self._open = asyncio.Event()
        self._open.set()
        self._fenced = False

    def owns(self, part: PartId) -> bool:
        return not self._fenced

    def holds(self, part: PartId) -> bool:
        return not self._fenced

    def epoch(self, part: PartId) -> int:
        return 1

    def guards(self, part: PartId) -> tuple[Statement, ...]:
        self.guarded.append(part)
        return (Delete(META, where(name=f"moved:{part}"), expect=0),)

    def effect_gate(self) -> Awaitable[None] | None:
        return None if self._open.is_set() and not self._fenced else self._wait()

    def move(self, part: PartId) -> Insert:
        """Returns the statement with which another Host takes the part."""
        return Insert(META, {"name": f"moved:{part}", "value": ""})

    def pause(self) -> None:
        self._open.clear()

    def resume(self) -> None:
        self._open.set()

    def fence(self) -> None:
        """Ends every effect that waits or comes later."""
        self._fenced = True
        self._open.set()

    async def _wait(self) -> None:
        self.waiting += 1
        await self._open.wait()
        self.waiting -= 1
        if self._fenced:
            raise PartLost("another Host has taken over")
