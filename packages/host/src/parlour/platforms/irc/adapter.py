"""Runs a bot on an IRC server: connects, joins its channels, takes lines in order, and connects again."""

import asyncio
import time
from typing import NoReturn

from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.backoff import Backoff
from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.core.platforms.port import AdapterFactory, HostLink, IncomingEvent, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.intake import EventQueue
from parlour.platforms._kit.line_connection import LineConnection
from parlour.platforms._kit.payloads import UNREADABLE, malformed_event
from parlour.platforms._kit.public_files import PublicFiles
from parlour_sdk.protocol.platform_events import BotInvited, BotRemoved, PlatformEvent

from .api import IrcApi
from .connected_session import ConnectedSession
from .decode import CTCP, IrcDecoder
from .encode import IrcEncoder
from .line_pacer import LinePacer
from .lines import IrcLine
from .missed_messages import MissedMessages, PlacedEvent
from .registration import Registration
from .server_state import ServerState
from .session import IrcSession
from .settings import NAME, SERVICE, read_settings

MIN_STABLE_SECONDS = 30.0
MAX_CTCP_ANSWERS = 3
"""CTCP queries that are answered within a minute; more are left unanswered, so that they never make the bot flood."""
MINUTE_SECONDS = 60.0


class IrcAdapter:
    """Adapter of one bot."""

    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        self._link = link
        self._backoff = backoff
        self._settings = settings = read_settings(link.config)
        secret = settings.password or settings.server_password or f"{settings.nick}@{settings.server.host}"
        self._files = PublicFiles(link, f"{link.bot_id} {secret}", str(link.config.get("public_url") or ""))
        self._connected = ConnectedSession(settings.channels)
        self._api = IrcApi(self._connected, IrcEncoder(self._files, link.content), settings.line_interval)
        self._missed = MissedMessages(link, f"{settings.server.host}:{settings.server.port}")
        self._queue = EventQueue[PlacedEvent](self._missed.store)
        self._tasks = BackgroundTasks("a channel is not joined")
        self._ctcp_times: list[float] = []

    async def serve(self) -> None:
        self._link.report_status("connecting")
        loop = asyncio.get_running_loop()
        await self._missed.restore()
        try:
            while True:
                started_at = loop.time()
                problem = await self._attempt()
                if loop.time() - started_at > MIN_STABLE_SECONDS:
                    self._backoff.reset()
                seconds = self._backoff.next_delay()
                self._link.report_status("connecting", f"{problem}; trying again in {seconds:.0f} s")
                await asyncio.sleep(seconds)
        finally:
            await self._tasks.aclose()
            await self._queue.close()

    def api(self, account: str = "") -> IrcApi:
        return self._api

    async def hook(self, call: HookCall) -> HookResponse:
        return await self._files.serve(call) or HookResponse(404, "there is nothing at this address")

    async def _attempt(self) -> str:
        """Serves a connection until it ends. Returns the reason."""
        settings = self._settings
        try:
            connection = await LineConnection.open(SERVICE, settings.server)
        except PlatformRefused as refused:
            return f"{refused.reason}; check host, port and security"
        state = ServerState(settings.nick)
        self._missed.begin_connection()
        decoder = IrcDecoder(self._link.bot_id, state)
        session = IrcSession(
            connection,
            settings,
            state,
            LinePacer(settings.line_interval),
            lambda line: self._take(line, decoder, session),
        )
        reading: asyncio.Task[NoReturn] | None = None
        try:
            await Registration(connection, settings, state).run()
            reading = asyncio.create_task(session.serve())
            self._connected.session = session
            problem = await self._connected.join_all()
            taken = f"the nick {settings.nick} is in use, the bot is {state.nick}"
            problems = (problem, "" if state.is_own(settings.nick) else taken)
            self._link.report_status("connected", "; ".join(filter(None, problems)))
            await self._missed.fetch(session, [each.name for each in state.channels.values()])
            await reading
        except (PlatformRefused, PlatformUncertain) as error:
            return str(error)
        finally:
            self._connected.session = None
            if reading is not None:
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)
            connection.close()

    async def _take(self, line: IrcLine, decoder: IrcDecoder, session: IrcSession) -> None:
        """Queues the events of a line, and answers what needs no agent."""
        if line.command == "PRIVMSG" and line.last.startswith(CTCP):
            await self._answer_ctcp(line, session)
        try:
            incoming = decoder.decode(line)
        except UNREADABLE as error:
            malformed = malformed_event(NAME, self._link.bot_id, line.text, type(error).__name__)
            incoming = [IncomingEvent(malformed.carrying(line.text), native_type=line.command)]
        for each in incoming:
            event = each.event
            if isinstance(event, BotInvited) and self._settings.join_on_invite and event.request_id:
                self._tasks.start(self._accept(event.request_id))
            if isinstance(event, BotRemoved):
                self._link.report_status("connected", f"the bot was removed from {event.group.name}; invite it again")
            await self._queue.submit(_chat(event), self._missed.received(each), len(line.text))

    async def _accept(self, channel: str) -> None:
        try:
            await self._connected.join(channel)
        except (PlatformRefused, PlatformUncertain) as error:
            self._link.report_status("connected", f"{channel}: {error}")

    async def _answer_ctcp(self, line: IrcLine, session: IrcSession) -> None:
        """Answers the usual questions of other clients by a notice, which no client answers again."""
        kind, _, content = line.last.strip(CTCP).partition(" ")
        answers = {
            "VERSION": "Parlour",
            "PING": content[:64],
            "TIME": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "CLIENTINFO": "ACTION CLIENTINFO PING TIME VERSION",
        }
        answer, now = answers.get(kind.upper()), time.monotonic()
        self._ctcp_times = [each for each in self._ctcp_times if each > now - MINUTE_SECONDS]
        if answer is None or session.state.is_own(line.nick) or len(self._ctcp_times) >= MAX_CTCP_ANSWERS:
            return
        self._ctcp_times.append(now)
        await session.send_now("NOTICE", line.nick, f"{CTCP}{kind.upper()} {answer}{CTCP}")


def _chat(event: PlatformEvent) -> str:
    """Returns the chat of an event, which orders it among others."""
    group = getattr(event, "group", None)
    return group.id if group is not None else str(getattr(event, "chat_id", ""))


def adapter_factory() -> AdapterFactory:
    return lambda link: IrcAdapter(link, Backoff())
