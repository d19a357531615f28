"""Reads new events from the homeserver by long polling.

If more events occurred than a response contains, the rest is read from the room's history, up to a limit.
"""

import asyncio
import logging
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from parlour.core.encoding import dumps
from parlour.core.platforms.port import PlatformRefused
from parlour.platforms._kit.http_client import RESPONSE_TIMEOUT_SECONDS
from parlour_sdk.values import dataclass

from .connection import HomeserverRefused, MatrixClient, Query, api_path, require_field
from .rooms import MatrixRoom, MatrixRooms, event_list
from .values import Payload, mapping, sequence, text

logger = logging.getLogger(__name__)

LONG_POLL_SECONDS = 30
INITIAL_SYNC_TIMEOUT_SECONDS = 120.0
PAGE_SIZE = 100
MAX_MISSED_EVENTS = 1000
"""Maximum number of events of one room that are read from its history after a gap; older ones are left out, and the gap
is reported.
"""
UNKNOWN_POSITION_CODES = ("M_UNKNOWN", "M_INVALID_PARAM", "M_UNKNOWN_POS")
_QUIET: Payload = {"types": []}
_LAZY: Payload = {"lazy_load_members": True, "include_redundant_members": True}
_ROOM: Payload = {"ephemeral": _QUIET, "account_data": _QUIET, "state": _LAZY}
_ONLY_ROOMS: Payload = {"presence": _QUIET, "account_data": _QUIET}
LIVE_FILTER = dumps({**_ONLY_ROOMS, "room": {**_ROOM, "timeline": {"limit": PAGE_SIZE, **_LAZY}}})


class SyncPositionRejected(PlatformRefused):
    """Raised when the homeserver does not know the sync position, for example after it was replaced."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """New events of one room, in order."""

    room: MatrixRoom
    events: list[Any]
    incomplete: bool = False
    """True if events before these are missing because the limit was reached."""


@dataclass(frozen=True, slots=True)
class SyncBatch:
    """Result of one sync request."""

    before: str
    """The sync position that was requested; empty for the initial sync."""
    since: str
    """The sync position to continue from."""
    timelines: list[Timeline]
    invitations: list[tuple[str, list[Payload]]]
    """Rooms to which the bot is invited, with the stripped state that invited users receive."""


class SyncReader:
    """Sends sync requests and updates the rooms from their results."""

    def __init__(self, client: MatrixClient, rooms: MatrixRooms, own_id: str) -> None:
        self._client = client
        self._rooms = rooms
        self._own_id = own_id

    async def read_initial(self) -> SyncBatch:
        """Loads the rooms that the bot is in. Messages from before are not reported."""
        answer = await self._client.get(
            api_path("sync"), {"filter": _whole_state(), "timeout": 0}, INITIAL_SYNC_TIMEOUT_SECONDS
        )
        for room_id, sync_part in _rooms(answer, "join"):
            room = self._rooms.apply_sync(room_id, sync_part)
            for event in event_list(sync_part, "timeline"):
                room.apply_state(event)
            await self._read_bridge_bots(room)
        return SyncBatch("", require_field(answer, "next_batch"), [], list(_invitations(answer)))

    async def read_next(self, since: str) -> SyncBatch:
        """Waits for new events, up to the long-polling timeout."""
        query: Query = {"filter": LIVE_FILTER, "timeout": LONG_POLL_SECONDS * 1000, "since": since}
        try:
            answer = await self._client.get(api_path("sync"), query, LONG_POLL_SECONDS + RESPONSE_TIMEOUT_SECONDS)
        except HomeserverRefused as error:
            if error.code in UNKNOWN_POSITION_CODES:
                raise SyncPositionRejected(error.reason, permanent=True) from None
            raise
        joined_timelines = await asyncio.gather(
            *(self._read_joined(each, sync_part, since) for each, sync_part in _rooms(answer, "join"))
        )
        left_timelines = [self._read_left(room_id, sync_part) for room_id, sync_part in _rooms(answer, "leave")]
        return SyncBatch(
            since, require_field(answer, "next_batch"), [*joined_timelines, *left_timelines], list(_invitations(answer))
        )

    async def _read_joined(self, room_id: str, sync_part: Payload, since: str) -> Timeline:
        room = self._rooms.apply_sync(room_id, sync_part)
        timeline = mapping(sync_part.get("timeline"))
        events = sequence(timeline.get("events"))
        await self._read_bridge_bots(room)
        entered = self._entered(events)
        if entered is not None or timeline.get("limited") is not True:
            for event in events[: entered or 0]:
                room.apply_state(mapping(event))
            return Timeline(room, events[entered or 0 :])
        missed, is_complete = await self._read_missed(room_id, text(timeline, "prev_batch"), since)
        return Timeline(room, [*missed, *events], incomplete=not is_complete)

    async def _read_bridge_bots(self, room: MatrixRoom) -> None:
        """Asks whether the bots of a bridge are in its room: the homeserver leaves out members who are silent."""
        for user_id in room.bridge.unknown_bots:
            try:
                member = await self._client.get(api_path("rooms", room.room_id, "state", "m.room.member", user_id))
            except PlatformRefused as error:
                if not error.permanent:
                    raise
                member = {}  # it never was in the room
            room.bridge.apply_member(user_id, text(member, "membership"))

    def _read_left(self, room_id: str, sync_part: Payload) -> Timeline:
        room = self._rooms.get(room_id)
        self._rooms.leave(room_id)
        return Timeline(room, sequence(mapping(sync_part.get("timeline")).get("events")))

    def _entered(self, events: list[Any]) -> int | None:
        """Returns the index at which the bot entered the room.

        Messages after its invitation are meant for it, earlier ones are not.
        """
        steps = {number: self._step(event) for number, event in enumerate(events)}
        if "join" not in steps.values():
            return None
        return next(number for number, step in steps.items() if step)

    def _step(self, event: Any) -> str:
        """Returns `invite` or `join` if the event is a step of the bot's own entry, else an empty string."""
        if (
            not isinstance(event, dict)
            or event.get("type") != "m.room.member"
            or event.get("state_key") != self._own_id
        ):
            return ""
        previous = text(mapping(mapping(event.get("unsigned")).get("prev_content")), "membership")
        now = text(mapping(event.get("content")), "membership")
        return now if now in ("invite", "join") and previous != "join" else ""

    async def _read_missed(self, room_id: str, from_token: str, since: str) -> tuple[list[Any], bool]:
        """Reads the events between two sync responses from the history, and returns whether they are complete."""
        events: list[Any] = []
        while from_token and len(events) < MAX_MISSED_EVENTS:
            query: Query = {"dir": "b", "limit": PAGE_SIZE, "from": from_token, "to": since}
            try:
                page = await self._client.get(api_path("rooms", room_id, "messages"), query)
            except PlatformRefused as error:
                if not error.permanent:
                    raise
                logger.warning("the events of %s during a gap can't be read: %s", room_id, error.reason)
                return events[::-1], False
            events += sequence(page.get("chunk"))
            from_token = text(page, "end") if page.get("chunk") else ""
        return events[::-1], not from_token


def _whole_state() -> str:
    """Builds the filter of the initial sync, different each time: Synapse answers a repeated request with a result that
    is minutes old.
    """
    no_events = {**_QUIET, "not_types": [uuid4().hex]}
    return dumps({**_ONLY_ROOMS, "presence": no_events, "room": {**_ROOM, "timeline": {"limit": 1, **_LAZY}}})


def _rooms(answer: Payload, part: str) -> Iterator[tuple[str, Payload]]:
    for room_id, sync_part in mapping(mapping(answer.get("rooms")).get(part)).items():
        if isinstance(sync_part, dict):
            yield room_id, sync_part


def _invitations(answer: Payload) -> Iterator[tuple[str, list[Payload]]]:
    for room_id, sync_part in _rooms(answer, "invite"):
        yield room_id, event_list(sync_part, "invite_state")
