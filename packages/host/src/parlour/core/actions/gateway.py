"""Action that opens the MCP server of a run, and the tokens by which its programs are recognized."""

import hashlib
import secrets
from collections.abc import Mapping

from parlour.core.errors import CallRejected
from parlour.core.model.ids import PluginId, RunId
from parlour.core.redaction import Redactor
from parlour.core.runs.caller import ActionCaller
from parlour.core.runs.session import RunSession
from parlour.core.runs.session_registry import RunSessions
from parlour_sdk.protocol.gateway import GatewayAccess, GatewayOpen
from parlour_sdk.values import dataclass

from .handlers import Handler

TOKEN_PREFIX = "pgw_"
SERVICES_OFF = "the gateway for services elsewhere is off; an operator turns it on with doors.services_port"
MAX_TOKENS = 1000
"""Tokens that are remembered; older ones are refused."""


@dataclass(frozen=True, slots=True)
class TokenUse:
    """The run for which a token counts."""

    plugin_id: PluginId
    run_id: RunId
    service: bool = False
    """True if it counts at the listener for services only, and nowhere else."""
    writes: bool = True
    """False if tools that change something are refused."""


class GatewayTokens:
    """Knows for which run each token counts. Only digests are kept, in memory."""

    def __init__(self, sessions: RunSessions, redactor: Redactor) -> None:
        self._sessions = sessions
        self._redactor = redactor
        self._uses: dict[str, TokenUse] = {}
        self.address = ""
        """Address of the gateway on this machine; empty until the Host listens."""
        self.service_address = ""
        """Address of the gateway for services elsewhere; empty if it is off."""

    def open(self, use: TokenUse, token: str | None) -> str:
        """Returns a new token for a run, or lets the given one count for this run from now on.

        Raises CallRejected if that one is another plugin's or no longer known.
        """
        if token is not None:
            known = self._uses.get(_digest(token))
            if known is None or known.plugin_id != use.plugin_id:
                raise CallRejected("unauthorized", "token: it is not one of this plugin, or no longer known")
            del self._uses[_digest(token)]  # so that it becomes the newest
        else:
            token = TOKEN_PREFIX + secrets.token_urlsafe(32)
            self._redactor.add_secret(token)
        self._uses[_digest(token)] = use
        while len(self._uses) > MAX_TOKENS:
            del self._uses[next(iter(self._uses))]
        return token

    def active_use(self, token: str) -> tuple[TokenUse, RunSession] | None:
        """Returns what a token of a service counts for; None if no run is active for it."""
        use = self._uses.get(_digest(token))
        session = self._active(use) if use is not None and use.service else None
        return (use, session) if use is not None and session is not None else None

    def active_run(self, token: str) -> RunSession | None:
        """Returns the active run of a token of a program on this machine; None if there is none."""
        use = self._uses.get(_digest(token))
        return self._active(use) if use is not None and not use.service else None

    def _active(self, use: TokenUse) -> RunSession | None:
        session = self._sessions.get(use.run_id)
        if session is None or session.ended.is_set() or session.stopping is not None:
            return None
        return session


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


class GatewayActions:
    def __init__(self, tokens: GatewayTokens) -> None:
        self._tokens = tokens

    def handlers(self) -> Mapping[str, Handler]:
        return {"gateway_open": self.open}

    async def open(self, caller: ActionCaller, request: GatewayOpen) -> GatewayAccess:
        session = caller.run_session
        if request.service:
            if not self._tokens.service_address:
                raise CallRejected("not_supported", SERVICES_OFF)
            use = TokenUse(caller.plugin_id, session.run_id, service=True, writes=request.writes)
            return GatewayAccess(url=self._tokens.service_address, token=self._tokens.open(use, None))
        if not self._tokens.address:
            raise CallRejected("not_supported", "this Host does not listen, so it has no gateway")
        token = self._tokens.open(TokenUse(caller.plugin_id, session.run_id), request.token)
        return GatewayAccess(url=self._tokens.address, token=token)
