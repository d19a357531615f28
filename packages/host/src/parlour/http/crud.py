"""Shared logic of the endpoints for configured objects: look-up, lists, conditional changes and audit entries."""

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
from .errors import invalid_field, not_found
from .pagination import paginate
from .principals import Principal
from .responses import Json

Thing = TypeVar("Thing")


Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
"""Display name of an object; it has at least one visible character."""


def check_same_id(field: str, meant: str, given: str | None) -> None:
    """Checks an id in the body against the one in the path. It may be sent back, but can't be changed."""
    if given not in (None, meant):
        raise invalid_field(field, f"it stays '{meant}', as in the address; leave it out")


def _fields(thing: Any) -> Json:
    return asdict(thing)


@dataclass(frozen=True, slots=True)
class ConfigResource(Generic[Thing]):
    """One kind of configured object, with the functions to find, version and audit it. The endpoints do everything
    else."""

    name: str
    """Name of one object for users, such as `MCP server`; audit actions begin with it."""
    path: str
    get: Callable[[str], Thing | None]
    id_of: Callable[[Thing], str]
    audit_view: Callable[[Thing], Any]
    """Serializes an object for the audit, without secrets."""
    cursors: Cursors
    clock: Clock
    version_fields: Callable[[Thing], Json] = _fields
    """Returns the fields from which the ETag is computed, by their API names. Secrets are included, since they can
    change."""
    _edit_lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def get_or_404(self, thing_id: str) -> Thing:
        thing = self.get(thing_id)
        if thing is None:
            raise not_found(f"{self.name} '{thing_id}'", f"GET /api/v1{self.path} lists them")
        return thing

    def with_etag(self, thing: Thing, response: Response) -> Thing:
        """Sets the ETag header of the response and returns the object."""
        etags.set_etag(response, self.version_fields(thing))
        return thing

    @asynccontextmanager
    async def edit(self, thing_id: str, wanted: str | None) -> AsyncIterator[Thing]:
        """Yields the current object if it is the version that the client wants to change. Other changes of this kind
        wait until the block ends."""
        async with self._edit_lock:
            thing = self.get_or_404(thing_id)
            parts = self.version_fields(thing)
            etags.check_if_match(f"{self.name} '{parts['name']}'", wanted, parts)
            yield thing

    def list_page(
        self, things: Iterable[Thing], view: Callable[[Thing], Json], limit: int, cursor: str | None
    ) -> dict[str, Any]:
        """Returns a page of objects in the order of their creation."""
        shown, more = paginate(self.cursors, self.path, things, self.id_of, limit, cursor)
        return {"items": [view(thing) for thing in shown], "next_cursor": more}

    def audit_entry(self, principal: Principal, before: Thing | None, after: Thing | None) -> Insert:
        """Builds the audit entry for an object that was created, replaced or deleted."""
        thing = after if after is not None else before
        assert thing is not None
        deed = "create" if before is None else "delete" if after is None else "replace"
        was, becomes = (self.audit_view(each) if each is not None else None for each in (before, after))
        action = f"{self.name.lower().replace(' ', '_')}.{deed}"
        return audit.change_entry(principal.owner, action, self.id_of(thing), was, becomes, self.clock.now())
