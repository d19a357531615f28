"""Decides which OneBot implementations may connect, tracks their accounts, and reports the bot's status as text."""

import asyncio
import hmac
import logging
from collections.abc import Callable, Sequence
from http import HTTPStatus
from urllib.parse import parse_qs

from parlour.core.platforms.hooks import Handshake
from parlour.core.platforms.port import ConnectionState, HostLink, PlatformOffline
from parlour_sdk.values import dataclass

from .connection import MAX_FRAME_BYTES, OFFLINE_RETRY_SECONDS, OneBotConnection
from .state import ConnectedAccounts

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
PATHS = ("/", "/ws", "/onebot/v11/ws")
"""Paths at the bot's own port; at the Host's port only the last one is accepted."""
ROLES = ("universal", "api", "event")
MAX_ACCOUNT_LENGTH = 64


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
        self._disconnected: set[str] = set()

    def find(self, account: str = "") -> OneBotConnection:
        """Returns the connection for calls; that of the first connected account if none is named.

        Raises PlatformOffline.
        """
        candidates = [account] if account else list(self._connections)
        for name in candidates:
            for connection in reversed(self._connections.get(name, ())):
                if connection.role != "event":
                    return connection
        if account in self._connections:
            raise PlatformOffline(_one_sided(account, "event"), OFFLINE_RETRY_SECONDS)
        subject = f"account {account} is not" if account else "no account is"
        raise PlatformOffline(f"{subject} connected to this bot", OFFLINE_RETRY_SECONDS)

    def is_expected(self, account: str) -> bool:
        """Returns whether the account is connected, or was recently enough that it may come back."""
        return account in self._connections or account in self._disconnected

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
        message = f"whoever is connected at {connection.peer} did not say whose account it is: {problem}"
        advice = "see that it is a OneBot 11 implementation and logged in"
        self.set_problem(
            _unidentified_key(connection), f"{message}; {advice}" if problem and not connection.account else ""
        )

    def add(self, account: str, connection: OneBotConnection) -> None:
        """Registers the connection of an account and clears the problems of this account only."""
        connection.account = account
        self._connections.setdefault(account, []).append(connection)
        self._connected.add(account, self._report_status)
        self._disconnected.discard(account)
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
            self._disconnected.add(account)
            self._schedule(f"gone {account}", DISCONNECTED_SHOWN_SECONDS, lambda: self._forget(account))
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

    def report_incident(self, kind: str, account: str, sentence: str, seconds: float | None = None) -> None:
        """Reports a problem for a limited time, or until this account connects successfully."""
        name = f"{kind} {account}"
        same_kind = [each for each in self._timers if each.startswith(f"{kind} ") and each != name]
        for oldest in same_kind[: 1 - MAX_INCIDENTS]:
            self._timers.pop(oldest).cancel()
            self._problems.pop(oldest, None)
        self._schedule(name, INCIDENT_SHOWN_SECONDS if seconds is None else seconds, lambda: self.set_problem(name, ""))
        self.set_problem(name, sentence)

    def _schedule(self, name: str, seconds: float, do: Callable[[], None]) -> None:
        if name in self._timers:
            self._timers[name].cancel()
        self._timers[name] = asyncio.get_running_loop().call_later(seconds, self._on_timer, name, do)

    def _on_timer(self, name: str, do: Callable[[], None]) -> None:
        del self._timers[name]
        do()

    def _forget(self, account: str) -> None:
        self._disconnected.discard(account)
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
        missing = [account for account in sorted(self._disconnected) if f"silent {account}" not in self._problems]
        offline = [
            f"account {account} went away; look at its OneBot implementation"
            for account in missing[:MAX_NAMED_ACCOUNTS]
        ]
        if len(missing) > MAX_NAMED_ACCOUNTS:
            offline.append(f"{len(missing) - MAX_NAMED_ACCOUNTS} more accounts went away too")
        problems = [self._not_listening, *self._problems.values(), *self._one_sided_accounts(), *self._shared()]
        sentences = [*problems, *(offline if self._connections else [self._absent]), self._warning]
        messages = [sentence for sentence in dict.fromkeys(sentences) if sentence]
        if messages or self._connections:  # otherwise the code that connects reports the status
            self._link.report_status(state, "; ".join(messages))

    def _one_sided_accounts(self) -> list[str]:
        """Lists accounts that are connected in only one of the two roles they need."""
        roles = {account: {each.role for each in connections} for account, connections in self._connections.items()}
        return [
            _one_sided(account, *account_roles)
            for account, account_roles in sorted(roles.items())
            if account_roles in ({"event"}, {"api"})
        ]

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


def _overlap(first: str, second: str) -> bool:
    return first == second or "universal" in (first, second)


@dataclass(frozen=True, slots=True)
class AdmissionRefusal:
    """Reason for refusing a WebSocket, with its HTTP status."""

    status: HTTPStatus
    sentence: str


class Admission:
    """Checks the handshakes of OneBot implementations."""

    def __init__(self, link: HostLink, accounts: OneBotAccounts) -> None:
        self._token = str(link.config.get("access_token") or "")
        self._accounts = accounts

    async def refusal(self, handshake: Handshake, token_required: bool = False) -> AdmissionRefusal | None:
        """Returns None for an implementation that may connect."""
        account, *other_accounts = handshake.header_values("x-self-id") or [""]
        if other_accounts or len(account) > MAX_ACCOUNT_LENGTH:
            return AdmissionRefusal(HTTPStatus.BAD_REQUEST, "X-Self-ID: one account's number is expected")
        if handshake.header_values("origin"):
            self._accounts.report_web_page(handshake.peer)
            return AdmissionRefusal(HTTPStatus.FORBIDDEN, "Origin: web pages may not connect to a OneBot bot")
        if token_required and not self._token:
            self._accounts.report_missing_token(handshake.peer)
            sentence = "this bot has no access token, which this address requires; set access_token in the bot"
            return AdmissionRefusal(HTTPStatus.FORBIDDEN, sentence)
        if not self._token_fits(handshake):
            self._accounts.report_wrong_token(account, handshake.peer)
            return AdmissionRefusal(HTTPStatus.UNAUTHORIZED, "the access token is missing or wrong")
        paths = PATHS[-1:] if token_required else PATHS
        if handshake.path.rstrip("/") not in {path.rstrip("/") for path in paths}:
            self._accounts.report_wrong_path(account, handshake.peer, paths)
            return AdmissionRefusal(HTTPStatus.NOT_FOUND, f"connect to one of {', '.join(paths)}")
        if account and await self._accounts.find_live_claim(account, role_of(handshake)):
            self._accounts.report_second_claim(account, handshake.peer)
            return AdmissionRefusal(HTTPStatus.CONFLICT, f"account {account} is connected already")
        return None

    def _token_fits(self, handshake: Handshake) -> bool:
        if not self._token:
            return True
        scheme, _, header_token = handshake.header("authorization").partition(" ")
        if scheme.lower() not in ("bearer", "token"):
            header_token = ""
        query_token = parse_qs(handshake.query).get("access_token", [""])[0]
        return any(
            hmac.compare_digest(each.encode(), self._token.encode()) for each in (header_token.strip(), query_token)
        )


def role_of(handshake: Handshake) -> str:
    role = handshake.header("x-client-role").lower()
    return role if role in ROLES else "universal"
