"""Tracks which accounts are connected through which connections, and reports the bot's status as text."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from parlour.core.platforms.port import ConnectionState, HostLink, PlatformOffline

from .client import MAX_FRAME_BYTES, OFFLINE_RETRY_SECONDS, OneBotConnection
from .connected_accounts import ConnectedAccounts

logger = logging.getLogger(__name__)

PROBE_TIMEOUT_SECONDS = 1.5
"""Seconds to wait for an existing connection's reply.

A new claimant waits for it, and NapCat gives up a handshake after 2 seconds.
"""
INCIDENT_SHOWN_SECONDS = 60.0
"""Seconds for which an incident is shown unless it happens again."""
DISCONNECTED_SHOWN_SECONDS = 600.0
"""Seconds for which a disconnected account is expected back."""
MAX_INCIDENTS = 8
"""Maximum number of incidents of one kind, so that attempts under many names fill neither the memory nor the page."""

DOUBLE_ANSWER_WARNING = "unless their routes differ people are answered twice: connect it to one of them only"
MAX_NAMED_ACCOUNTS = 8
"""Maximum number of disconnected accounts that are named; the rest is only counted."""


NO_TOKEN = (
    "the bot has no access token, so any program on this machine can connect as its OneBot implementation; "
    "set the same access_token here and there"
)


class OneBotAccounts:
    """Connections of the bot's accounts.

    `absent` is the advice that is shown while no account is connected; `warning` is shown as long as the bot runs.
    """

    def __init__(self, link: HostLink, connected: ConnectedAccounts, absent: str, warning: str = "") -> None:
        self._link = link
        self._connected = connected
        self._absent = absent
        self._warning = warning
        self._not_listening = ""
        self._connections: dict[str, list[OneBotConnection]] = {}
        self._problems: dict[str, str] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._gone: set[str] = set()

    def find(self, account: str = "") -> OneBotConnection:
        """Returns the connection for calls; that of the first connected account if none is named.

        Raises PlatformOffline.
        """
        known = [account] if account else list(self._connections)
        for name in known:
            for connection in reversed(self._connections.get(name, ())):
                if connection.role != "event":
                    return connection
        if account in self._connections:
            raise PlatformOffline(_one_sided(account, "event"), OFFLINE_RETRY_SECONDS)
        who = f"account {account} is not" if account else "no account is"
        raise PlatformOffline(f"{who} connected to this bot", OFFLINE_RETRY_SECONDS)

    def is_expected(self, account: str) -> bool:
        """Returns whether the account is connected, or was recently enough that it may come back."""
        return account in self._connections or account in self._gone

    async def find_live_claim(self, account: str, role: str) -> OneBotConnection | None:
        """Returns a connection that already serves this account and still answers.

        One that does not answer is dropped.
        """
        for connection in list(self._connections.get(account, ())):
            if not _overlap(connection.role, role):
                continue
            if await connection.is_alive(PROBE_TIMEOUT_SECONDS):
                return connection
            self.remove(connection)
            connection.abort()
        return None

    def report_second_claim(self, account: str, peer: str) -> None:
        sentence = f"a second OneBot implementation, at {peer}, claims account {account}; switch one of the two off"
        self.report_incident("claim", account, sentence)

    def report_wrong_token(self, account: str, peer: str) -> None:
        """Reports a wrong access token, by account if the implementation named one, else by its address."""
        problem = "its access token is missing or wrong; set the same one here and there"
        self.report_incident("token", account or peer, f"a OneBot implementation at {peer} was refused: {problem}")

    def report_wrong_path(self, account: str, peer: str, paths: Sequence[str]) -> None:
        problem = f"it asked for another path than {', '.join(paths)}; correct its address"
        self.report_incident("path", account or peer, f"a OneBot implementation at {peer} was refused: {problem}")

    def report_web_page(self, peer: str) -> None:
        sentence = f"a web page in a browser at {peer} tried to connect and was refused (its request has an Origin)"
        self.report_incident("page", peer, sentence)

    def report_missing_token(self, peer: str) -> None:
        sentence = f"a OneBot implementation at {peer} was refused: set access_token to let it connect to this address"
        self.report_incident("unset", peer, sentence)

    def report_too_many_connections(self) -> None:
        sentence = "too many connections are open at the bot's own port, so that new ones are refused; see who connects"
        self.report_incident("crowd", "", sentence)

    def report_unidentified(self, connection: OneBotConnection, problem: str) -> None:
        """Reports a connection that did not say which account it serves; an empty problem clears the report."""
        told = f"whoever is connected at {connection.peer} did not say whose account it is: {problem}"
        advice = "see that it is a OneBot 11 implementation and logged in"
        self.set_problem(
            _unidentified_key(connection), f"{told}; {advice}" if problem and not connection.account else ""
        )

    def add(self, account: str, connection: OneBotConnection) -> None:
        """Registers the connection of an account and clears the problems of this account only."""
        connection.account = account
        self._connections.setdefault(account, []).append(connection)
        self._connected.add(account, self._report_status)
        self._gone.discard(account)
        for kind in ("claim", "token", "path", "silent"):
            self._problems.pop(f"{kind} {account}", None)
        self._problems.pop(_unidentified_key(connection), None)
        self._report_status()

    def remove(self, connection: OneBotConnection) -> None:
        account = connection.account
        connections = self._connections.get(account, [])
        if connection not in connections:
            return
        connections.remove(connection)
        self._connected.remove(account, self._report_status)
        for kind in ("offline", "login", "clock", "identity"):
            self._problems.pop(f"{kind} {account}", None)
        if not connections:
            del self._connections[account]
            self._gone.add(account)
            self._later(f"gone {account}", DISCONNECTED_SHOWN_SECONDS, lambda: self._forget(account))
        if connection.silent:
            sentence = f"the heartbeat of account {account} stopped; look at its OneBot implementation"
            self.report_incident("silent", account, sentence, DISCONNECTED_SHOWN_SECONDS)
        if connection.too_large:
            size = f"more than {MAX_FRAME_BYTES >> 20} MiB at once"
            problem = f"account {account} told {size}, so its connection was closed; let it tell files by their address"
            self.report_incident("frame", account, problem, DISCONNECTED_SHOWN_SECONDS)
        self._report_status()

    def close(self) -> None:
        """Stops all timers; nothing is reported afterwards."""
        for timer in self._timers.values():
            timer.cancel()

    def report_incident(self, kind: str, whose: str, sentence: str, seconds: float | None = None) -> None:
        """Reports a problem for a limited time, or until this account connects successfully."""
        name = f"{kind} {whose}"
        others = [each for each in self._timers if each.startswith(f"{kind} ") and each != name]
        for other in others[: 1 - MAX_INCIDENTS]:
            self._timers.pop(other).cancel()
            self._problems.pop(other, None)
        self._later(name, INCIDENT_SHOWN_SECONDS if seconds is None else seconds, lambda: self.set_problem(name, ""))
        self.set_problem(name, sentence)

    def _later(self, name: str, seconds: float, do: Callable[[], None]) -> None:
        if name in self._timers:
            self._timers[name].cancel()
        self._timers[name] = asyncio.get_running_loop().call_later(seconds, self._on_timer, name, do)

    def _on_timer(self, name: str, do: Callable[[], None]) -> None:
        del self._timers[name]
        do()

    def _forget(self, account: str) -> None:
        self._gone.discard(account)
        self._report_status()

    def set_problem(self, kind: str, sentence: str) -> None:
        """Shows a problem until it is cleared by an empty sentence."""
        if self._problems.get(kind, "") == sentence:
            return
        if sentence:
            self._problems[kind] = sentence
            logger.warning("bot %s: %s", self._link.bot_id, sentence)
        else:
            del self._problems[kind]
        self._report_status()

    def _report_status(self) -> None:
        """Reports the status: disconnected accounts are named beside connected ones; if none is connected, the advice
        is shown.
        """
        state: ConnectionState = "connected" if self._connections else "failed" if self._not_listening else "connecting"
        gone = [account for account in sorted(self._gone) if f"silent {account}" not in self._problems]
        away = [
            f"account {account} went away; look at its OneBot implementation" for account in gone[:MAX_NAMED_ACCOUNTS]
        ]
        if len(gone) > MAX_NAMED_ACCOUNTS:
            away.append(f"{len(gone) - MAX_NAMED_ACCOUNTS} more accounts went away too")
        known = [self._not_listening, *self._problems.values(), *self._one_sided_accounts(), *self._shared()]
        sentences = [*known, *(away if self._connections else [self._absent]), self._warning]
        told = [sentence for sentence in dict.fromkeys(sentences) if sentence]
        if told or self._connections:  # otherwise the code that connects reports the status
            self._link.report_status(state, "; ".join(told))

    def _one_sided_accounts(self) -> list[str]:
        """Lists accounts that are connected in only one of the two roles they need."""
        roles = {account: {each.role for each in connections} for account, connections in self._connections.items()}
        return [_one_sided(account, *had) for account, had in sorted(roles.items()) if had in ({"event"}, {"api"})]

    def _shared(self) -> list[str]:
        """Lists accounts that another bot of this Host serves as well."""
        shared = [
            account for account in sorted(self._connections) if self._connected.is_shared(account, self._report_status)
        ]
        return [
            f"account {account} is connected to another bot of this Host too; {DOUBLE_ANSWER_WARNING}"
            for account in shared
        ]

    def report_status(self) -> None:
        self._report_status()

    def set_listen_problem(self, problem: str) -> None:
        """Shows why the bot's own port can't be opened; an empty problem clears it."""
        self._not_listening = problem
        self._report_status()


def _one_sided(account: str, role: str) -> str:
    if role == "event":
        return f"account {account} reports events and takes no calls; let it connect in the role API or Universal too"
    return f"account {account} takes calls and reports no events; let it connect in the role Event or Universal too"


def _unidentified_key(connection: OneBotConnection) -> str:
    return f"nameless {id(connection)}"


def _overlap(one: str, other: str) -> bool:
    return one == other or "universal" in (one, other)
