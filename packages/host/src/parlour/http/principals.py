"""Authenticates requests: an API key with its scope, or a user's session with its role."""

import hmac
from typing import Literal

from starlette.requests import HTTPConnection

from parlour.core.access.browser_sessions import BrowserSession, BrowserSessions
from parlour.core.access.keys import ApiKeys
from parlour.core.model.event import Participant
from parlour_sdk.values import dataclass

from .allowed_hosts import AllowedHosts
from .errors import Problem

AccessScope = Literal["owner", "admin", "operator", "viewer", "chat", "platform", "mcp", "worker", "model_calls"]
"""Scope of a key or role of a user, also as a requirement of an endpoint. `model_calls` allows reading prompts and
answers of models; no role includes it, a setting names the lowest role that has it."""

_INCLUDED_SCOPES: dict[AccessScope, frozenset[AccessScope]] = {
    "owner": frozenset(("owner", "admin", "operator", "viewer", "chat", "mcp")),
    "admin": frozenset(("admin", "operator", "viewer", "chat", "mcp")),
    "operator": frozenset(("operator", "viewer", "chat", "mcp")),
    "viewer": frozenset(("viewer",)),
    "chat": frozenset(("chat",)),
    "mcp": frozenset(("chat", "mcp")),
    "worker": frozenset(("worker",)),  # executes runs, and sees nothing else
    "model_calls": frozenset(),
    "platform": frozenset(("chat", "platform")),  # only its events may be answered on a platform
}
COOKIE = "parlour_session"
CSRF_HEADER = "x-csrf-token"
SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))


@dataclass(frozen=True, slots=True)
class Principal:
    kind: Literal["key", "user"]
    id: str
    name: str
    scope: AccessScope
    login: BrowserSession | None = None

    def may(self, need: AccessScope) -> bool:
        return need in _INCLUDED_SCOPES[self.scope]

    @property
    def owner(self) -> str:
        """Returns the id under which its conversations are stored; it is also the principal of the events it sends."""
        return f"{self.kind}:{self.id}"

    @property
    def participant(self) -> Participant:
        """Returns the principal as the actor of events that it causes."""
        return Participant("api_key" if self.kind == "key" else "user", self.id, self.name)


class Authenticator:
    def __init__(
        self, keys: ApiKeys, logins: BrowserSessions, names: AllowedHosts, model_calls_visible_to: AccessScope = "admin"
    ) -> None:
        self._keys = keys
        self._logins = logins
        self._names = names
        self._model_calls_visible_to = model_calls_visible_to

    async def authenticate(self, connection: HTTPConnection) -> Principal:
        header = connection.headers.get("authorization")
        if header is None and COOKIE in connection.cookies:
            return await self._authenticate_session(connection, _session_cookie(connection))
        kind, _, secret = (header or "").partition(" ")
        if kind.lower() != "bearer" or not secret.strip():
            message = "log in, or send an API key in the header Authorization, after the word Bearer"
            raise Problem(401, "unauthenticated", message)
        key = await self._keys.authenticate(secret.strip())
        if key is None:
            raise Problem(
                401, "unauthenticated", "this API key is unknown, expired or revoked; make one with 'keys create'"
            )
        return Principal("key", key.key_id, key.name, key.scope)

    async def _authenticate_session(self, connection: HTTPConnection, cookie: str) -> Principal:
        self._names.check(connection)
        login = await self._logins.find(cookie)
        if login is None:
            raise Problem(401, "unauthenticated", "this session is over; log in again")
        if connection.scope["type"] == "websocket":
            if "origin" not in connection.headers:
                raise Problem(403, "forbidden", "a socket that is opened with a session says its origin")
        elif connection.scope["method"] not in SAFE_METHODS:
            csrf_token = connection.headers.get(CSRF_HEADER, "")
            if not hmac.compare_digest(csrf_token.encode(), login.csrf.encode()):
                raise Problem(403, "forbidden", "send the csrf_token of GET /auth/me as the header X-CSRF-Token")
        user = login.user
        return Principal("user", user.user_id, user.name, user.role, login)

    async def authorize(self, connection: HTTPConnection, *needs: AccessScope) -> Principal:
        """Returns the principal if its scope or role allows at least one of these; raises Problem otherwise."""
        principal = await self.authenticate(connection)
        if not any(self.permits(principal.scope, need) for need in needs):
            raise Problem(403, "forbidden", f"{_describe(principal)} may not do this")
        return principal

    def permits(self, scope: AccessScope, need: AccessScope) -> bool:
        """Returns whether this scope or role is sufficient, including where a setting decides."""
        required = self._model_calls_visible_to if need == "model_calls" else need
        return required in _INCLUDED_SCOPES[scope]


def _session_cookie(connection: HTTPConnection) -> str:
    """Returns the first session cookie. Browsers send the one with the longest path first, and another Host under
    another prefix of this host name may have set one too."""
    for part in connection.headers["cookie"].split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE:
            return value
    return connection.cookies[COOKIE]


def _describe(principal: Principal) -> str:
    if principal.kind == "key":
        return f"a key with scope '{principal.scope}'"
    return f"somebody with the role {principal.scope}"
