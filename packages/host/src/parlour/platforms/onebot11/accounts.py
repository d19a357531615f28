"""Which accounts are connected by which connection, and how the bot is doing in words."""

import asyncio
import logging

from parlour.core.platforms.port import Link, PlatformAway, State

from .client import AWAY_SECONDS, Connection
from .roster import ROSTER

logger = logging.getLogger(__name__)

ALIVE_SECONDS = 2.0
PASSING_SECONDS = 60.0
"""How long an incident is shown that did not happen again."""


class Accounts:
    """`absent` is what to do while nobody is connected."""

    def __init__(self, link: Link, absent: str) -> None:
        self._link = link
        self._absent = absent
        self._connections: dict[str, list[Connection]] = {}
        self._trouble: dict[str, str] = {}
        self._passing: dict[str, asyncio.TimerHandle] = {}

    def find(self, account: str = "") -> Connection:
        """Where calls go; the first connected account when none is named. Raises PlatformAway."""
        known = [account] if account else list(self._connections)
        for name in known:
            for connection in reversed(self._connections.get(name, ())):
                if connection.role != "event":
                    return connection
        who = f"account {account} is not" if account else "no account is"
        raise PlatformAway(f"{who} connected to this bot", AWAY_SECONDS)

    async def claimed(self, account: str, role: str) -> Connection | None:
        """Who has this account already and still answers; one that does not is let go."""
        for connection in list(self._connections.get(account, ())):
            if not _overlap(connection.role, role):
                continue
            if await connection.alive(ALIVE_SECONDS):
                return connection
            self.remove(connection)
            connection.abandon()
        return None

    def second_claim(self, account: str, peer: str) -> None:
        sentence = f"a second OneBot implementation, at {peer}, claims account {account}; switch one of the two off"
        self.incident("claim", sentence)

    def add(self, account: str, connection: Connection) -> None:
        connection.account = account
        self._connections.setdefault(account, []).append(connection)
        ROSTER.joined(account)
        self._trouble.clear()
        self._tell()

    def remove(self, connection: Connection) -> None:
        connections = self._connections.get(connection.account, [])
        if connection not in connections:
            return
        connections.remove(connection)
        ROSTER.left(connection.account)
        if not connections:
            del self._connections[connection.account]
        for kind in ("offline", "clock"):
            self._trouble.pop(f"{kind} {connection.account}", None)
        if connection.silent:
            self._trouble["silent"] = f"the heartbeat of account {connection.account} stopped"
        self._tell()

    def incident(self, kind: str, sentence: str) -> None:
        """Shown for a while, or until somebody connects well."""
        if kind in self._passing:
            self._passing[kind].cancel()
        self._passing[kind] = asyncio.get_running_loop().call_later(PASSING_SECONDS, self.trouble, kind, "")
        self.trouble(kind, sentence)

    def trouble(self, kind: str, sentence: str) -> None:
        """Shown until it is over, which an empty sentence says, or somebody connects well."""
        if self._trouble.get(kind, "") == sentence:
            return
        if sentence:
            self._trouble[kind] = sentence
            logger.warning("bot %s: %s", self._link.bot_id, sentence)
        else:
            del self._trouble[kind]
        self._tell()

    def _tell(self) -> None:
        state: State = "connected" if self._connections else "connecting"
        sentences = [*self._trouble.values(), *([] if self._connections else [self._absent])]
        self._link.state(state, "; ".join(sentences))

    def begin(self) -> None:
        self._tell()


def _overlap(one: str, other: str) -> bool:
    return one == other or "universal" in (one, other)
