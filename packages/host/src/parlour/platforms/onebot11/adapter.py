"""Runs a bot on OneBot 11: wires connections, decoding and API. The frames of each connection pass through
`_serve_connection`.
"""

import asyncio
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any

from parlour.core.platforms.hooks import HookSocket
from parlour.core.platforms.port import Adapter, Incoming, Link, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.event_queue import Intake
from parlour_sdk.protocol.chain import Quote
from parlour_sdk.values import dataclass

from . import decode, enrich
from .account_routing import BOUND, Name, named_in
from .accounts import NO_TOKEN, Accounts
from .admission import Admission
from .api import OneBotApi
from .client import Connection, Cut
from .client_connection import Caller
from .configuration import open_to_this_machine
from .connected_accounts import ROSTER
from .hosted import HostedSockets
from .segments import segments_of
from .server_connection import Listener, waiting
from .state import Memory
from .values import number, text

LONGEST_INTERVAL = 3600 * 1000
"""Maximum heartbeat interval in milliseconds; heartbeats with a longer interval are not monitored."""
Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event with the connection that received it and the time of arrival in milliseconds."""

    connection: Connection
    payload: Payload
    moment: int


class OneBot:
    """Adapter of one OneBot 11 bot, which may have several accounts."""

    def __init__(self, link: Link) -> None:
        self._link = link
        forward = link.config.get("mode") == "forward"
        warning = NO_TOKEN if open_to_this_machine(link.config) else ""
        self._accounts = Accounts(link, "" if forward else waiting(link), warning)
        self._memory = Memory()
        self._intake: Intake[Arrival] = Intake(self._take)
        admission = Admission(link, self._accounts)
        self._way: Caller | Listener = (
            Caller(link, self._accounts, self._talk)
            if forward
            else Listener(link, self._accounts, admission, self._talk)
        )
        self._hosted = None if forward else HostedSockets(self._accounts, admission, self._talk)

    async def serve(self) -> None:
        try:
            await self._way.serve()
        finally:
            if self._hosted is not None:
                await self._hosted.close()
            self._accounts.close()
            await self._intake.close()

    async def socket(self, socket: HookSocket) -> None:
        """Serves an implementation that connects to the Host's own port."""
        if self._hosted is None:
            await socket.refuse(404, "this bot connects to its OneBot implementation itself (mode forward)")
        else:
            await self._hosted.serve(socket)

    def api(self, account: str = "") -> OneBotApi:
        """Returns the API of an account. Without one, each call uses the account that last saw the ids in the call."""
        find = (lambda *names: self._accounts.find(account)) if account else self._through
        return OneBotApi(find, self._link.content, self._memory)

    def _through(self, *names: Name) -> Connection:
        """Chooses the connection by routing keys.

        An account that is gone for long is skipped, unless only it knows the id.
        """
        for name in names:
            account = self._memory.meetings.account(name)
            if account and (name[0] in BOUND or self._accounts.expected(account)):
                return self._accounts.find(account)
        return self._accounts.find()

    async def _talk(self, connection: Connection) -> None:
        """Serves a connection until it ends.

        If it did not say which account it serves, it is asked, or its first event shows it.
        """
        silent = connection.account or connection.role == "event"
        asking = None if silent else asyncio.create_task(self._ask_whose(connection))
        try:
            await connection.read(lambda payload, size: self._received(connection, payload, size))
        finally:
            if asking is not None:
                asking.cancel()
            self._accounts.nameless(connection, "")

    async def _ask_whose(self, connection: Connection) -> None:
        try:
            login = await connection.call("get_login_info", {})
        except Cut:
            return
        except (PlatformRefused, PlatformUncertain) as problem:
            self._accounts.nameless(connection, str(problem))
            return
        if isinstance(login, dict) and login.get("user_id"):
            await self._know(connection, login["user_id"])
        else:
            self._accounts.nameless(connection, "OneBot answered get_login_info without a user_id")

    async def _know(self, connection: Connection, account: Any) -> None:
        if connection.account or not isinstance(account, int | str) or not account:
            return
        if await self._accounts.claimed(str(account), connection.role):
            self._accounts.second_claim(str(account), connection.peer)
            connection.abandon()
        elif not connection.account:
            self._accounts.add(str(account), connection)

    async def _received(self, connection: Connection, payload: Payload, size: int) -> None:
        now = round(time.time() * 1000)
        if not connection.account:
            await self._know(connection, payload.get("self_id"))
        payload = self._whose(connection, payload)
        if payload["post_type"] == "meta_event":
            self._meta(connection, payload, now)
            return
        self._note_login(connection.account, payload)
        self._memory.meetings.met(connection.account, *named_in(payload))
        if not decode.is_own(payload):
            if payload["post_type"] == "message":
                self._memory.heard(connection.account, payload.get("message"))
                self._memory.met(connection.account, payload)
            await self._intake.put(decode.chat_key(payload), Arrival(connection, payload, now), size)

    def _whose(self, connection: Connection, payload: Payload) -> Payload:
        """Adds a missing `self_id` from the connection's account, and reports events of another account."""
        account, told = connection.account, payload.get("self_id")
        if isinstance(told, bool) or not isinstance(told, int | str) or not told:
            return {**payload, "self_id": account} if account else payload
        if str(told) != account and account:
            sentence = (
                f"the OneBot implementation connected as account {account} (X-Self-ID) and reports events of account "
                f"{str(told)[:20]}, which can't be answered; let it name one account in both"
            )
            self._accounts.trouble(f"identity {account}", sentence)
        return payload

    def _note_login(self, account: str, payload: Payload) -> None:
        """Tracks the login state.

        Lagrange's heartbeats continue while QQ has logged the account out; an account that receives messages is logged
        in.
        """
        match payload.get("notice_type"):
            case "bot_offline":
                said = text(payload, "message")
                why = f" ({said[:200]})" if said else ""
                sentence = f"QQ logged account {account} out{why}; log in at its OneBot implementation again"
                self._accounts.trouble(f"login {account}", sentence)
            case "bot_online" | None:
                self._accounts.trouble(f"login {account}", "")

    async def _take(self, arrival: Arrival) -> None:
        connection, payload = arrival.connection, arrival.payload
        if payload["post_type"] == "message":
            payload = await self._completed(connection, payload)
        incoming = decode.decode(payload, self._link.bot_id)
        if oddity := connection.clock.oddity(incoming.event.timestamp, arrival.moment):
            self._accounts.incident("moment", connection.account, oddity)
        happened_at = connection.clock.here(incoming.event.timestamp, arrival.moment)
        incoming = replace(incoming, event=ROSTER.marked(incoming.event), happened_at=happened_at)
        await self._link.received(self._addressed(incoming))

    async def _completed(self, connection: Connection, payload: Payload) -> Payload:
        try:
            segments = segments_of(payload.get("message"))
        except ValueError:
            return payload
        if not enrich.incomplete(segments):
            return payload
        return await enrich.completed(payload, segments, self._ask_by(connection))

    def _ask_by(self, connection: Connection) -> enrich.Ask:
        """Returns the function for look-ups.

        A connection for events takes no calls, so another connection of its account is used.
        """
        if connection.role != "event":
            return connection.call

        async def ask(action: str, params: Payload) -> Any:
            return await self._accounts.find(connection.account).call(action, params)

        return ask

    def _addressed(self, incoming: Incoming) -> Incoming:
        """Marks a message that replies to one of the bot's own messages as addressed to the bot."""
        quotes = (each for each in getattr(incoming.event, "message_chain", ()) if isinstance(each, Quote))
        account = incoming.self_id
        own = any(each.sender == account or self._memory.has_sent(account, each.id) for each in quotes)
        return replace(incoming, addressed=True) if own else incoming

    def _meta(self, connection: Connection, payload: Payload, now: int) -> None:
        beats = payload.get("meta_event_type") == "heartbeat"
        if beats:
            interval = number(payload.get("interval"))
            if interval and interval <= LONGEST_INTERVAL:
                connection.beats_every(interval / 1000)
            status = payload.get("status")
            away = isinstance(status, dict) and status.get("online") is False
            sentence = f"account {connection.account} is not logged in at its OneBot implementation; log in there again"
            self._accounts.trouble(f"offline {connection.account}", sentence if away else "")
        with suppress(ValueError, KeyError):
            # the first event of go-cqhttp has an old timestamp
            connection.clock.compare(decode.moment(payload), now, certainly=beats)
            self._accounts.trouble(f"clock {connection.account}", connection.clock.trouble)


def create(link: Link) -> Adapter:
    return OneBot(link)
