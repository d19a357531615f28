"""What the endpoints of everything that people configure share: finding it, listing it, changing the version that was
seen, and telling the audit."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import asdict, field
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Response
from pydantic import StringConstraints

from parlour.core.access import audit
from parlour.core.journal import Insert
from parlour.core.model.ports import Clock
from parlour.core.pagination import Cursors
from parlour_sdk.values import dataclass

from . import etags
from .errors import invalid, not_found
from .pagination import part
from .principals import Principal
from .responses import Json

Thing = TypeVar("Thing")


Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
"""What people call a thing: there is something to be seen of it."""


def same(field: str, meant: str, given: str | None) -> None:
    """An id may be sent back with the thing that was read; it can't be changed."""
    if given not in (None, meant):
        raise invalid(field, f"it stays '{meant}', as in the address; leave it out")


def _fields(thing: Any) -> Json:
    return asdict(thing)


@dataclass(frozen=True, slots=True)
class Shelf(Generic[Thing]):
    """One kind of thing. What it does with them is its endpoints' business."""

    name: str
    """As people call one of them, such as `MCP server`; the audit's actions begin with it."""
    path: str
    get: Callable[[str], Thing | None]
    id_of: Callable[[Thing], str]
    audited: Callable[[Thing], Any]
    """As the audit keeps it: without secrets."""
    cursors: Cursors
    clock: Clock
    parts: Callable[[Thing], Json] = _fields
    """What a version of it is made of, by the names that people write; secrets too, since they can change."""
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def existing(self, thing_id: str) -> Thing:
        thing = self.get(thing_id)
        if thing is None:
            raise not_found(f"{self.name} '{thing_id}'", f"GET /api/v1{self.path} lists them")
        return thing

    def told(self, thing: Thing, response: Response) -> Thing:
        """The same, once the answer says which version it is."""
        etags.tell(response, self.parts(thing))
        return thing

    @asynccontextmanager
    async def changing(self, thing_id: str, wanted: str | None) -> AsyncIterator[Thing]:
        """As it is now, if that is the version that is to be changed. Others who change one of them wait meanwhile."""
        async with self._turn:
            thing = self.existing(thing_id)
            parts = self.parts(thing)
            etags.check(f"{self.name} '{parts['name']}'", wanted, parts)
            yield thing

    def page(
        self, things: Iterable[Thing], view: Callable[[Thing], Json], limit: int, cursor: str | None
    ) -> dict[str, Any]:
        """In the order they were made."""
        shown, more = part(self.cursors, self.path, things, self.id_of, limit, cursor)
        return {"items": [view(thing) for thing in shown], "next_cursor": more}

    def change(self, principal: Principal, before: Thing | None, after: Thing | None) -> Insert:
        """One that was made, replaced or deleted, for the audit."""
        thing = after if after is not None else before
        assert thing is not None
        deed = "create" if before is None else "delete" if after is None else "replace"
        was, becomes = (self.audited(each) if each is not None else None for each in (before, after))
        action = f"{self.name.lower().replace(' ', '_')}.{deed}"
        return audit.admin(principal.owner, action, self.id_of(thing), was, becomes, self.clock.now())
