"""Configured objects of the HTTP interface: lookup, ETag, audit, and the routes that all kinds of them have."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, field
from typing import Annotated, Any, Generic, Literal, TypeVar

from fastapi import APIRouter, Path, Response
from pydantic import StringConstraints

from parlour.core.access import audit
from parlour.core.journal import Insert
from parlour.core.model.ports import Clock
from parlour.core.pagination import Cursors
from parlour_sdk.values import dataclass

from . import etags
from .auth import Admin, Viewer
from .errors import invalid_field, not_found
from .etags import IfMatch
from .pagination import Cursor, Limit, paginate
from .principals import Principal
from .responses import Json, PageResponse

Key = TypeVar("Key", bound=str)
Item = TypeVar("Item")
View = TypeVar("View")
Body = TypeVar("Body")
Verb = Literal["create", "list", "read", "replace", "delete"]
Verbs = tuple[Verb, ...]
ALL_VERBS: Verbs = ("create", "list", "read", "replace", "delete")


Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
"""Display name of an object; it has at least one visible character."""


def check_same_id(field: str, path_id: str, body_id: str | None) -> None:
    """Checks an id in the body against the one in the path. It may be sent back, but can't be changed."""
    if body_id not in (None, path_id):
        raise invalid_field(field, f"it stays '{path_id}', as in the address; leave it out")


def _fields(item: Any) -> Json:
    return asdict(item)


@dataclass(frozen=True, slots=True)
class ConfigResource(Generic[Key, Item]):
    """One kind of configured object, with the functions to find, version and audit it. The endpoints do everything
    else."""

    name: str
    """Name of one object for users, such as `MCP server`; audit actions begin with it."""
    path: str
    get: Callable[[Key], Item | None]
    id_of: Callable[[Item], Key]
    audit_view: Callable[[Item], Any]
    """Serializes an object for the audit, without secrets."""
    cursors: Cursors
    clock: Clock
    version_fields: Callable[[Item], Json] = _fields
    """Returns the fields from which the ETag is computed, by their API names. Secrets are included, since they can
    change."""
    _edit_lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def get_or_404(self, item_id: Key) -> Item:
        item = self.get(item_id)
        if item is None:
            raise not_found(f"{self.name} '{item_id}'", f"GET /api/v1{self.path} lists them")
        return item

    def with_etag(self, item: Item, response: Response) -> Item:
        """Sets the ETag header of the response and returns the object."""
        etags.set_etag(response, self.version_fields(item))
        return item

    @asynccontextmanager
    async def edit(self, item_id: Key, if_match: str | None) -> AsyncIterator[Item]:
        """Yields the current object if it is the version that the client wants to change. Other changes of this kind
        wait until the block ends."""
        async with self._edit_lock:
            item = self.get_or_404(item_id)
            parts = self.version_fields(item)
            etags.check_if_match(f"{self.name} '{parts['name']}'", if_match, parts)
            yield item

    def list_page(
        self, items: Iterable[Item], view: Callable[[Item], View], limit: int, cursor: str | None
    ) -> PageResponse[View]:
        """Returns a page of objects in the order of their creation."""
        page_items, next_cursor = self.page(items, limit, cursor)
        return {"items": [view(item) for item in page_items], "next_cursor": next_cursor}

    def page(self, items: Iterable[Item], limit: int, cursor: str | None) -> tuple[list[Item], str | None]:
        """Returns the objects of a page and the cursor of the next one."""
        return paginate(self.cursors, self.path, items, self.id_of, limit, cursor)

    def audit_entry(self, principal: Principal, before: Item | None, after: Item | None) -> Insert:
        """Builds the audit entry for an object that was created, replaced or deleted."""
        item = after if after is not None else before
        assert item is not None
        verb = "create" if before is None else "delete" if after is None else "replace"
        was, becomes = (self.audit_view(each) if each is not None else None for each in (before, after))
        action = f"{self.name.lower().replace(' ', '_')}.{verb}"
        return audit.change_entry(principal.owner, action, self.id_of(item), was, becomes, self.clock.now())


async def _do_nothing(principal: Principal, before: Any, after: Any) -> None: ...


def without_wait(view: Callable[[Item], View]) -> Callable[[Item], Awaitable[View]]:
    """Makes a function that reads nothing usable as a view."""

    async def async_view(item: Item) -> View:
        return view(item)

    return async_view


@dataclass(frozen=True, slots=True)
class CrudOperations(Generic[Key, Item, Body, View]):
    """Functions in which the kinds of configured objects differ."""

    list: Callable[[], Iterable[Item]]
    build: Callable[[Key, Body, Item | None, Principal], Item]
    """Builds an object from its id, the request body, the object before the change, and the principal."""
    add: Callable[[Item, Insert], Awaitable[Item | None]]
    """Stores a new object together with its audit entry. Returns what is stored, if that differs."""
    replace: Callable[[Item, Insert], Awaitable[Item | None]]
    remove: Callable[[Key, Insert], Awaitable[None]]
    """Deletes the object with this id."""
    view: Callable[[Item], Awaitable[View]]
    """Returns the object for a response."""
    after_change: Callable[[Principal, Item | None, Item | None], Awaitable[None]] = _do_nothing
    """Applies a change that is stored, given the object before and after it."""


@dataclass(frozen=True, slots=True)
class CrudSchemas(Generic[Body, View]):
    """Names and schemas of the routes in the OpenAPI document."""

    noun: str
    """Noun of the operation ids: `agent` for `create_agent` and `list_agents`."""
    id_name: str
    """Name of the path parameter, such as `agent_id`."""
    body: type[Body]
    response: type[View]
    replace_body: type[Body] | None = None
    """Body of a replacement, if it is another one than that of a new object."""
    max_id_length: int | None = None
    notes: Mapping[Verb, str] = field(default_factory=dict)
    """Descriptions of single routes."""


def add_crud_routes(
    routes: APIRouter,
    resource: ConfigResource[Key, Item],
    schemas: CrudSchemas[Body, View],
    operations: CrudOperations[Key, Item, Body, View],
    new_id: Callable[[], Key],
    verbs: Verbs = ALL_VERBS,
) -> None:
    """Registers the routes to create, list, read, replace and delete objects, or some of these, with ETag and audit."""

    async def create(body: Body, principal: Admin, response: Response) -> View:
        item = operations.build(new_id(), body, None, principal)
        stored = await operations.add(item, resource.audit_entry(principal, None, item)) or item
        await operations.after_change(principal, None, stored)
        return await operations.view(resource.with_etag(stored, response))

    async def list_all(principal: Viewer, limit: Limit = 50, cursor: Cursor = None) -> PageResponse[View]:
        items, next_cursor = resource.page(operations.list(), limit, cursor)
        return {"items": [await operations.view(item) for item in items], "next_cursor": next_cursor}

    async def read(item_id: Key, principal: Viewer, response: Response) -> View:
        return await operations.view(resource.with_etag(resource.get_or_404(item_id), response))

    async def replace(item_id: Key, body: Body, principal: Admin, response: Response, if_match: IfMatch = None) -> View:
        async with resource.edit(item_id, if_match) as before:
            item = operations.build(item_id, body, before, principal)
            stored = await operations.replace(item, resource.audit_entry(principal, before, item)) or item
        await operations.after_change(principal, before, stored)
        return await operations.view(resource.with_etag(stored, response))

    async def delete(item_id: Key, principal: Admin, if_match: IfMatch = None) -> Response:
        async with resource.edit(item_id, if_match) as before:
            await operations.remove(item_id, resource.audit_entry(principal, before, None))
        await operations.after_change(principal, before, None)
        return Response(status_code=204)

    response_type: Any = schemas.response
    path_id = Annotated[str, Path(alias=schemas.id_name, max_length=schemas.max_id_length)]
    replacement_body = schemas.replace_body or schemas.body
    all_path, one_path = resource.path, f"{resource.path}/{{{schemas.id_name}}}"

    def register(verb: Verb, method: str, path: str, endpoint: Any, status: int | None, **types: Any) -> None:
        if verb in verbs:
            endpoint.__annotations__ |= types
            name = f"{verb}_{schemas.noun}{'s' if verb == 'list' else ''}"
            note = schemas.notes.get(verb)
            routes.add_api_route(path, endpoint, name=name, methods=[method], status_code=status, description=note)

    register("create", "POST", all_path, create, 201, body=schemas.body, **{"return": response_type})
    register("list", "GET", all_path, list_all, None, **{"return": PageResponse[response_type]})
    register("read", "GET", one_path, read, None, item_id=path_id, **{"return": response_type})
    register(
        "replace", "PUT", one_path, replace, None, item_id=path_id, body=replacement_body, **{"return": response_type}
    )
    register("delete", "DELETE", one_path, delete, 204, item_id=path_id)
