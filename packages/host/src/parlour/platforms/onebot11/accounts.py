"""Tracks which accounts are connected through which connections, and reports the bot's status as text."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from parlour.core.platforms.port import Link, PlatformAway, State

from .client import AWAY_SECONDS, LARGEST_FRAME, Connection
from .connected_accounts import ROSTER

logger = logging.getLogger(__name__)

ALIVE_SECONDS = 1.5
"""Seconds to wait for an existing connection's reply.

A new claimant waits for it, and NapCat gives up a handshake after 2 seconds.
"""
PASSING_SECONDS = 60.0
"""Seconds for which an incident is shown unless it happens again."""
GONE_SECONDS = 600.0
"""Seconds for which a disconnected account is expected back."""
MOST_INCIDENTS = 8
"""Maximum number of incidents of one kind, so that attempts under many names fill neither the memory nor the page."""

TWICE = "unless their routes differ people are answered twice: connect it to one of them only"
MOST_GONE = 8
"""Maximum number of disconnected accounts that are named; the rest is only counted."""


NO_TOKEN = (
    "the bot has no access token, so any program on this machine can connect as its OneBot implementation; "
    "set the same access_token here and there"
)


class Accounts:
    """Connections of the bot's accounts.

    `absent` is the advice that is shown while no account is connected; `warning` is shown as long as the bot runs.
    """

    def __init__(self, link: Link, absent: str, warning: str = "") -> None:
        self._link = link
        self._absent = absent
        self._warning = warning
        self._not_listening = ""
        self._connections: dict[str, list[Connection]] = {}
        self._trouble: dict[str, str] = {}
        self._passing: dict[str, asyncio.TimerHandle] = {}
        self._gone: set[str] = set()

    def find(self, account: str = "") -> Connection:
        """Returns the connection for calls; that of the first connected account if none is named.

        Raises PlatformOffline.
        """
        known = [account] if account else list(self._connections)
        for name in known:
            for connection in reversed(self._connections.get(name, ())):
                if connection.role != "event":
                    return connection
        if account in self._connections:
            raise PlatformAway(_one_sided(account, "event"), AWAY_SECONDS)
        who = f"account {account} is not" if account else "no account is"
        raise PlatformAway(f"{who} connected to this bot", AWAY_SECONDS)

    def expected(self, account: str) -> bool:
        """Returns whether the account is connected, or was recently enough that it may come back."""
        return account in self._connections or account in self._gone

    async def claimed(self, account: str, role: str) -> Connection | None:
        """Returns a connection that already serves this account and still answers.

        One that does not answer is dropped.
        """
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
        self.incident("claim", account, sentence)

    def wrong_token(self, account: str, peer: str) -> None:
        """Reports a wrong access token, by account if the implementation named one, else by its address."""
        problem = "its access token is missing or wrong; set the same one here and there"
        self.incident("token", account or peer, f"a OneBot implementation at {peer} was refused: {problem}")

    def wrong_path(self, account: str, peer: str, paths: Sequence[str]) -> None:
        problem = f"it asked for another path than {', '.join(paths)}; correct its address"
        self.incident("path", account or peer, f"a OneBot implementation at {peer} was refused: {problem}")

    def web_page(self, peer: str) -> None:
        sentence = f"a web page in a browser at {peer} tried to connect and was refused (its request has an Origin)"
        self.incident("page", peer, sentence)

    def token_missing(self, peer: str) -> None:
        sentence = f"a OneBot implementation at {peer} was refused: set access_token to let it connect to this address"
        self.incident("unset", peer, sentence)

    def too_many_connections(self) -> None:
        sentence = "too many connections are open at the bot's own port, so that new ones are refused; see who connects"
        self.incident("crowd", "", sentence)

    def nameless(self, connection: Connection, problem: str) -> None:
        """Reports a connection that did not say which account it serves; an empty problem clears the report."""
        told = f"whoever is connected at {connection.peer} did not say whose account it is: {problem}"
        advice = "see that it is a OneBot 11 implementation and logged in"
        self.trouble(_nameless(connection), f"{told}; {advice}" if problem and not connection.account else "")

    def add(self, account: str, connection: Connection) -> None:
        """Registers the connection of an account and clears the problems of this account only."""
        connection.account = account
        self._connections.setdefault(account, []).append(connection)
        ROSTER.joined(account, self._tell)
        self._gone.discard(account)
        for kind in ("claim", "token", "path", "silent"):
            self._trouble.pop(f"{kind} {account}", None)
        self._trouble.pop(_nameless(connection), None)
        self._tell()

    def remove(self, connection: Connection) -> None:
        account = connection.account
        connections = self._connections.get(account, [])
        if connection not in connections:
            return
        connections.remove(connection)
        ROSTER.left(account, self._tell)
        for kind in ("offline", "login", "clock", "identity"):
            self._trouble.pop(f"{kind} {account}", None)
        if not connections:
            del self._connections[account]
            self._gone.add(account)
            self._later(f"gone {account}", GONE_SECONDS, lambda: self._forget(account))
        if connection.silent:
            sentence = f"the heartbeat of account {account} stopped; look at its OneBot implementation"
            self.incident("silent", account, sentence, GONE_SECONDS)
        if connection.too_large:
            size = f"more than {LARGEST_FRAME >> 20} MiB at once"
            problem = f"account {account} told {size}, so its connection was closed; let it tell files by their address"
            self.incident("frame", account, problem, GONE_SECONDS)
        self._tell()

    def close(self) -> None:
        """Stops all timers; nothing is reported afterwards."""
        for timer in self._passing.values():
            timer.cancel()

    def incident(self, kind: str, whose: str, sentence: str, seconds: float | None = None) -> None:
        """Reports a problem for a limited time, or until this account connects successfully."""
        name = f"{kind} {whose}"
        others = [each for each in self._passing if each.startswith(f"{kind} ") and each != name]
        for other in others[: 1 - MOST_INCIDENTS]:
            self._passing.pop(other).cancel()
            self._trouble.pop(other, None)
        self._later(name, PASSING_SECONDS if seconds is None else seconds, lambda: self.trouble(name, ""))
        self.trouble(name, sentence)

    def _later(self, name: str, seconds: float, do: Callable[[], None]) -> None:
        if name in self._passing:
            self._passing[name].cancel()
        self._passing[name] = asyncio.get_running_loop().call_later(seconds, self._passed, name, do)

    def _passed(self, name: str, do: Callable[[], None]) -> None:
        del self._passing[name]
        do()

    def _forget(self, account: str) -> None:
        self._gone.discard(account)
        self._tell()

    def trouble(self, kind: str, sentence: str) -> None:
        """Shows a problem until it is cleared by an empty sentence."""
        if self._trouble.get(kind, "") == sentence:
            return
        if sentence:
            self._trouble[kind] = sentence
            logger.warning("bot %s: %s", self._link.bot_id, sentence)
        else:
            del self._trouble[kind]
        self._tell()

    def _tell(self) -> None:
        """Reports the status: disconnected accounts are named beside connected ones; if none is connected, the advice
        is shown.
        """
        state: State = "connected" if self._connections else "failed" if self._not_listening else "connecting"
        gone = [account for account in sorted(self._gone) if f"silent {account}" not in self._trouble]
        away = [f"account {account} went away; look at its OneBot implementation" for account in gone[:MOST_GONE]]
        if len(gone) > MOST_GONE:
            away.append(f"{len(gone) - MOST_GONE} more accounts went away too")
        known = [self._not_listening, *self._trouble.values(), *self._halves(), *self._shared()]
        sentences = [*known, *(away if self._connections else [self._absent]), self._warning]
        told = [sentence for sentence in dict.fromkeys(sentences) if sentence]
        if told or self._connections:  # otherwise the code that connects reports the status
            self._link.state(state, "; ".join(told))

    def _halves(self) -> list[str]:
        """Lists accounts that are connected in only one of the two roles they need."""
        roles = {account: {each.role for each in connections} for account, connections in self._connections.items()}
        return [_one_sided(account, *had) for account, had in sorted(roles.items()) if had in ({"event"}, {"api"})]

    def _shared(self) -> list[str]:
        """Lists accounts that another bot of this Host serves as well."""
        shared = [account for account in sorted(self._connections) if ROSTER.shared(account, self._tell)]
        return [f"account {account} is connected to another bot of this Host too; {TWICE}" for account in shared]

    def begin(self) -> None:
        self._tell()

    def not_listening(self, problem: str) -> None:
        """Shows why the bot's own port can't be opened; an empty problem clears it."""
        self._not_listening = problem
        self._tell()


def _one_sided(account: str, role: str) -> str:
    if role == "event":
        return f"account {account} reports events and takes no calls; let it connect in the role API or Universal too"
    return f"account {account} takes calls and reports no events; let it connect in the role Event or Universal too"


def _nameless(connection: Connection) -> str:
    return f"nameless {id(connection)}"


def _overlap(one: str, other: str) -> bool:
    return one == other or "universal" in (one, other)
