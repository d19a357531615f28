"""Who is asking: a bearer key and what its scope may do."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from parlour.core.access.keys import ApiKeys, Scope

from .errors import Problem

Need = Scope

_MAY: dict[Scope, frozenset[Scope]] = {
    "admin": frozenset(("admin", "operator", "viewer", "chat")),
    "operator": frozenset(("operator", "viewer", "chat")),
    "viewer": frozenset(("viewer",)),
    "chat": frozenset(("chat",)),
}


@dataclass(frozen=True, slots=True)
class Principal:
    key_id: str
    name: str
    scope: Scope

    def may(self, need: Need) -> bool:
        return need in _MAY[self.scope]

    @property
    def owner(self) -> str:
        """Whose conversations these are; also the principal of the events it sends."""
        return f"key:{self.key_id}"


class Authenticator:
    def __init__(self, keys: ApiKeys) -> None:
        self._keys = keys

    async def principal(self, connection: HTTPConnection) -> Principal:
        kind, _, secret = connection.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not secret.strip():
            raise Problem(401, "unauthenticated", "send an API key as 'Authorization: Bearer ...'")
        key = await self._keys.authenticate(secret.strip())
        if key is None:
            raise Problem(
                401, "unauthenticated", "this API key is unknown, expired or revoked; make one with 'keys create'"
            )
        return Principal(key.key_id, key.name, key.scope)

    async def admit(self, connection: HTTPConnection, *needs: Need) -> Principal:
        """The principal, whose scope allows at least one of these."""
        principal = await self.principal(connection)
        if not any(principal.may(need) for need in needs):
            raise Problem(403, "forbidden", f"a key with scope '{principal.scope}' may not do this")
        return principal


def requires(*needs: Need) -> Callable[[HTTPConnection], Awaitable[Principal]]:
    """A dependency: the principal, if it may do this."""

    async def check(connection: HTTPConnection) -> Principal:
        authenticator: Authenticator = connection.app.state.authenticator
        return await authenticator.admit(connection, *needs)

    return check


Admin = Annotated[Principal, Depends(requires("admin"))]
Operator = Annotated[Principal, Depends(requires("operator"))]
Viewer = Annotated[Principal, Depends(requires("viewer"))]
Chatter = Annotated[Principal, Depends(requires("chat"))]
Reader = Annotated[Principal, Depends(requires("viewer", "chat"))]
"""Sees everything with a viewer's rights, and its own with a chat key."""
