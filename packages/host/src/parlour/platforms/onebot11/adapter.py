"""Runs a bot on OneBot 11: wires connections, decoding and API. The frames of each connection pass through
`_serve_connection`.
"""

import asyncio
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any

from parlour.core.backoff import Backoff
from parlour.core.platforms.hooks import HookSocket
from parlour.core.platforms.port import AdapterFactory, HostLink, IncomingEvent, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.intake import EventQueue
from parlour_sdk.protocol.chain import Quote
from parlour_sdk.values import dataclass

from . import decode, enrich
from .accounts import NO_TOKEN, Admission, OneBotAccounts
from .api import OneBotApi
from .configuration import open_to_this_machine
from .connection import OneBotConnection, OneBotConnectionLost
from .connectors import ForwardConnector, HostedSockets, ReverseListener, connect_instruction
from .payloads import number, text
from .segments import segments_of
from .state import ACCOUNT_BOUND_KINDS, ConnectedAccounts, OneBotState, RoutingKey, routing_keys

MAX_HEARTBEAT_MILLISECONDS = 3600 * 1000
"""Maximum heartbeat interval in milliseconds; heartbeats with a longer interval are not monitored."""
Payload = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ReceivedEvent:
    """An event with the connection that received it and the time of arrival in milliseconds."""

    connection: OneBotConnection
    payload: Payload
    moment: int


class OneBotAdapter:
    """Adapter of one OneBot 11 bot, which may have several accounts."""

    def __init__(self, link: HostLink, backoff: Backoff, connected: ConnectedAccounts) -> None:
        self._link = link
        self._connected = connected
        is_forward = link.config.get("mode") == "forward"
        warning = NO_TOKEN if open_to_this_machine(link.config) else ""
        self._accounts = OneBotAccounts(link, connected, "" if is_forward else connect_instruction(link), warning)
        self._memory = OneBotState()
        self._queue: EventQueue[ReceivedEvent] = EventQueue(self._process)
        admission = Admission(link, self._accounts)
        self._connector: ForwardConnector | ReverseListener = (
            ForwardConnector(link, self._accounts, self._serve_connection, backoff)
            if is_forward
            else ReverseListener(link, self._accounts, admission, self._serve_connection, backoff)
        )
        self._hosted = None if is_forward else HostedSockets(self._accounts, admission, self._serve_connection)

    async def serve(self) -> None:
        try:
            await self._connector.serve()
        finally:
            if self._hosted is not None:
                await self._hosted.close()
            self._accounts.close()
            await self._queue.close()

    async def socket(self, socket: HookSocket) -> None:
        """Serves an implementation that connects to the Host's own port."""
        if self._hosted is None:
            await socket.refuse(404, "this bot connects to its OneBot implementation itself (mode forward)")
        else:
            await self._hosted.serve(socket)

    def api(self, account: str = "") -> OneBotApi:
        """Returns the API of an account. Without one, each call uses the account that last saw the ids in the call."""
        find = (lambda *names: self._accounts.find(account)) if account else self._route
        return OneBotApi(find, self._link.content, self._memory)

    def _route(self, *names: RoutingKey) -> OneBotConnection:
        """Chooses the connection by routing keys.

        An account that is gone for long is skipped, unless only it knows the id.
        """
        for name in names:
            account = self._memory.routing.account_for(name)
            if account and (name[0] in ACCOUNT_BOUND_KINDS or self._accounts.is_expected(account)):
                return self._accounts.find(account)
        return self._accounts.find()

    async def _serve_connection(self, connection: OneBotConnection) -> None:
        """Serves a connection until it ends.

        If it did not say which account it serves, it is asked, or its first event shows it.
        """
        silent = connection.account or connection.role == "event"
        account_task = None if silent else asyncio.create_task(self._request_account(connection))
        try:
            await connection.read(lambda payload, size: self._receive(connection, payload, size))
        finally:
            if account_task is not None:
                account_task.cancel()
            self._accounts.report_unidentified(connection, "")

    async def _request_account(self, connection: OneBotConnection) -> None:
        try:
            login = await connection.call("get_login_info", {})
        except OneBotConnectionLost:
            return
        except (PlatformRefused, PlatformUncertain) as problem:
            self._accounts.report_unidentified(connection, str(problem))
            return
        if isinstance(login, dict) and login.get("user_id"):
            await self._identify(connection, login["user_id"])
        else:
            self._accounts.report_unidentified(connection, "OneBot answered get_login_info without a user_id")

    async def _identify(self, connection: OneBotConnection, account: Any) -> None:
        if connection.account or not isinstance(account, int | str) or not account:
            return
        if await self._accounts.find_live_claim(str(account), connection.role):
            self._accounts.report_second_claim(str(account), connection.peer)
            connection.abort()
        elif not connection.account:
            self._accounts.add(str(account), connection)

    async def _receive(self, connection: OneBotConnection, payload: Payload, size: int) -> None:
        now = round(time.time() * 1000)
        if not connection.account:
            await self._identify(connection, payload.get("self_id"))
        payload = self._with_self_id(connection, payload)
        if payload["post_type"] == "meta_event":
            self._meta(connection, payload, now)
            return
        self._note_login(connection.account, payload)
        self._memory.routing.record(connection.account, *routing_keys(payload))
        if not decode.is_own(payload):
            if payload["post_type"] == "message":
                self._memory.record_format(connection.account, payload.get("message"))
                self._memory.record_private_group(connection.account, payload)
            await self._queue.submit(decode.chat_key(payload), ReceivedEvent(connection, payload, now), size)

    def _with_self_id(self, connection: OneBotConnection, payload: Payload) -> Payload:
        """Adds a missing `self_id` from the connection's account, and reports events of another account."""
        account, reported_id = connection.account, payload.get("self_id")
        if isinstance(reported_id, bool) or not isinstance(reported_id, int | str) or not reported_id:
            return {**payload, "self_id": account} if account else payload
        if str(reported_id) != account and account:
            sentence = (
                f"the OneBot implementation connected as account {account} (X-Self-ID) and reports events of account "
                f"{str(reported_id)[:20]}, which can't be answered; let it name one account in both"
            )
            self._accounts.set_problem(f"identity {account}", sentence)
        return payload

    def _note_login(self, account: str, payload: Payload) -> None:
        """Tracks the login state.

        Lagrange's heartbeats continue while QQ has logged the account out; an account that receives messages is logged
        in.
        """
        match payload.get("notice_type"):
            case "bot_offline":
                message = text(payload, "message")
                reason = f" ({message[:200]})" if message else ""
                sentence = f"QQ logged account {account} out{reason}; log in at its OneBot implementation again"
                self._accounts.set_problem(f"login {account}", sentence)
            case "bot_online" | None:
                self._accounts.set_problem(f"login {account}", "")

    async def _process(self, arrival: ReceivedEvent) -> None:
        connection, payload = arrival.connection, arrival.payload
        if payload["post_type"] == "message":
            payload = await self._complete(connection, payload)
        incoming = decode.decode(payload, self._link.bot_id)
        if oddity := connection.clock.timestamp_problem(incoming.event.timestamp, arrival.moment):
            self._accounts.report_incident("moment", connection.account, oddity)
        happened_at = connection.clock.to_host_time(incoming.event.timestamp, arrival.moment)
        incoming = replace(incoming, event=self._connected.mark_bots(incoming.event), happened_at=happened_at)
        await self._link.receive(self._addressed(incoming))

    async def _complete(self, connection: OneBotConnection, payload: Payload) -> Payload:
        try:
            segments = segments_of(payload.get("message"))
        except ValueError:
            return payload
        if not enrich.needs_lookup(segments):
            return payload
        return await enrich.enrich_message(payload, segments, self._ask_by(connection))

    def _ask_by(self, connection: OneBotConnection) -> enrich.LookupFunction:
        """Returns the function for look-ups.

        A connection for events takes no calls, so another connection of its account is used.
        """
        if connection.role != "event":
            return connection.call

        async def ask(action: str, params: Payload) -> Any:
            return await self._accounts.find(connection.account).call(action, params)

        return ask

    def _addressed(self, incoming: IncomingEvent) -> IncomingEvent:
        """Marks a message that replies to one of the bot's own messages as addressed to the bot."""
        quotes = (each for each in getattr(incoming.event, "message_chain", ()) if isinstance(each, Quote))
        account = incoming.self_id
        quotes_bot = any(each.sender == account or self._memory.has_sent(account, each.id) for each in quotes)
        return replace(incoming, addresses_bot=True) if quotes_bot else incoming

    def _meta(self, connection: OneBotConnection, payload: Payload, now: int) -> None:
        beats = payload.get("meta_event_type") == "heartbeat"
        if beats:
            interval = number(payload.get("interval"))
            if interval and interval <= MAX_HEARTBEAT_MILLISECONDS:
                connection.watch_heartbeat(interval / 1000)
            status = payload.get("status")
            is_offline = isinstance(status, dict) and status.get("online") is False
            sentence = f"account {connection.account} is not logged in at its OneBot implementation; log in there again"
            self._accounts.set_problem(f"offline {connection.account}", sentence if is_offline else "")
        with suppress(ValueError, KeyError):
            # the first event of go-cqhttp has an old timestamp
            connection.clock.compare(decode.event_time(payload), now, certainly=beats)
            self._accounts.set_problem(f"clock {connection.account}", connection.clock.skew_problem)


def adapter_factory() -> AdapterFactory:
    connected = ConnectedAccounts()
    return lambda link: OneBotAdapter(link, Backoff(), connected)
