"""Fetches what was said in channels while the bot was away, from servers that keep it (IRCv3 chathistory)."""

import json
import logging
from datetime import UTC, datetime
from time import time

from parlour.core.encoding import dumps
from parlour.core.platforms.port import HostLink, IncomingEvent, PlatformOffline, PlatformRefused
from parlour.platforms._kit.payloads import number
from parlour.platforms._kit.watermark import Ticket, Watermark
from parlour_sdk.values import dataclass

from .lines import format_line
from .session import IrcSession

logger = logging.getLogger(__name__)

CAPABILITIES = {"draft/chathistory", "batch", "server-time", "message-tags"}
PAGE_LINES, MAX_PAGES = 100, 10


@dataclass(frozen=True, slots=True)
class PlacedEvent:
    """An event with its place in time; no ticket if it does not move the position."""

    incoming: IncomingEvent
    ticket: Ticket | None = None


class MissedMessages:
    """Knows up to which time the events of a bot are stored."""

    def __init__(self, link: HostLink, server: str) -> None:
        self._link = link
        self._server = server
        self._watermark = Watermark()
        self._newest = 0
        self._is_behind = True
        """True until what was missed has been asked for: until then, the position stays."""

    async def restore(self) -> None:
        """Continues at the stored position, if it is one of this server."""
        try:
            stored = json.loads(await self._link.cursor() or "{}")
        except ValueError:
            return
        if isinstance(stored, dict) and stored.get("server") == self._server:
            self._watermark = Watermark(number(stored.get("time")) or 0)

    def begin_connection(self) -> None:
        self._is_behind = True

    def received(self, incoming: IncomingEvent) -> PlacedEvent:
        """Notes an event in the order of its arrival."""
        if self._is_behind:
            return PlacedEvent(incoming)
        self._newest = max(self._newest, incoming.event.timestamp, self._watermark.position)
        return PlacedEvent(incoming, self._watermark.begin(self._newest))

    async def store(self, event: PlacedEvent) -> None:
        """Stores an event, with the position that is reached then."""
        if event.ticket is None:
            await self._link.receive(event.incoming)
            return
        await self._link.receive(event.incoming, cursor=self._cursor(self._watermark.position_with(event.ticket)))
        self._watermark.finish(event.ticket)

    async def fetch(self, session: IrcSession, channels: list[str]) -> None:
        """Asks for what was said in the channels since the position. The lines arrive as others do."""
        since, limit = self._watermark.position, session.history_limit
        if since and session.state.capabilities >= CAPABILITIES:
            for name in channels:
                await self._fetch_channel(session, name, since, min(limit, PAGE_LINES) if limit else PAGE_LINES)
        elif not since:
            self._watermark = Watermark(session.newest_time or round(time() * 1000))
            await self._link.receive(cursor=self._cursor(self._watermark.position))
        self._is_behind = False

    async def _fetch_channel(self, session: IrcSession, name: str, since: int, lines: int) -> None:
        """Asks page by page. The first one begins with the position, since several messages may have the same time."""
        place = f"timestamp={_format_time(since - 1)}"
        for _ in range(MAX_PAGES):
            before = session.past_lines
            try:
                await session.request([format_line("CHATHISTORY", "AFTER", name, place, str(lines))])
            except PlatformRefused as refused:
                if isinstance(refused, PlatformOffline):
                    raise
                logger.warning("bot %s: the server does not show the past of a channel: %s", self._link.bot_id, refused)
                return
            if session.past_lines - before < lines or not session.past_id:
                return
            place = f"msgid={session.past_id}"

    def _cursor(self, position: int) -> str:
        return dumps({"server": self._server, "time": position})


def _format_time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
