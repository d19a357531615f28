"""Converts the events of a sync batch and fetches the data that messages refer to, in order within each room."""

import asyncio
import time
from collections import OrderedDict
from dataclasses import replace
from typing import Any

from parlour.core.platforms.port import IncomingEvent, PlatformRefused, PlatformUncertain
from parlour_sdk.protocol.platform_events import PlatformEvent, PlatformSpecific

from . import content, decode, media
from .connection import MatrixClient, api_path
from .content import MessageReferences
from .decode import MatrixDecodeContext, Reaction
from .media import MatrixFiles
from .rooms import MatrixRoom, MatrixRooms
from .sync import MAX_MISSED_EVENTS, SyncBatch, Timeline
from .values import NAME, Payload, mapping, number, text, too_deep

LOOKUP_TIMEOUT_SECONDS = 10.0
FILE_TIMEOUT_SECONDS = 30.0
"""Seconds for fetching a file; the other events of its batch wait for it."""
MAX_CACHED_REACTIONS = 10_000


class MatrixEventProcessor:
    """Converts sync batches of one account into incoming events."""

    def __init__(
        self,
        client: MatrixClient,
        files: MatrixFiles,
        rooms: MatrixRooms,
        own_id: str,
        bot_id: str,
        trusted: frozenset[str],
    ) -> None:
        self._client = client
        self._files = files
        self._rooms = rooms
        self._own_id = own_id
        self._bot_id = bot_id
        self._trusted = trusted
        self._reactions: OrderedDict[str, Reaction] = OrderedDict()

    async def process(self, batch: SyncBatch) -> list[IncomingEvent]:
        by_room = await asyncio.gather(*(self._of_room(timeline) for timeline in batch.timelines))
        invited = [
            self._invitation(room_id, [_shallow(each) for each in state], batch.before)
            for room_id, state in batch.invitations
        ]
        return [*(each for room in by_room for each in room), *invited]

    async def _of_room(self, timeline: Timeline) -> list[IncomingEvent]:
        events = [self._gap(timeline)] if timeline.incomplete and timeline.events else []
        for event in (_shallow(each) for each in timeline.events):
            incoming = await self._incoming(event, timeline.room)
            if isinstance(event, dict):
                timeline.room.apply_state(event)
            if incoming is not None:
                events.append(incoming)
        return events

    async def _incoming(self, event: Any, room: MatrixRoom) -> IncomingEvent | None:
        context = self._decode_context(room)
        if not isinstance(event, dict) or event.get("sender") == self._own_id:
            return decode.decode(event, context)
        if event.get("type") == "m.room.redaction":
            return await self._redaction(event, context)
        if content.is_edit(event) and not await self._may_edit(event, room):
            return None
        self._remember(event)
        references = await self._find_references(event, room) if _has_references(event) else content.NO_REFERENCES
        return decode.decode(event, replace(context, references=references))

    def _decode_context(self, room: MatrixRoom) -> MatrixDecodeContext:
        return MatrixDecodeContext(
            room,
            self._own_id,
            self._bot_id,
            trusts_roles=room.creator_server in self._trusted,
            bridge_bots=self._rooms.bridge_bots,
        )

    async def _find_references(self, event: Payload, room: MatrixRoom) -> MessageReferences:
        """Fetches the quoted event and the file of a message; whatever is not available in time is left out."""
        quoted_id, quoted = content.reply_target_id(event), None
        if quoted_id:
            quoted = await self._fetch_event(room.room_id, quoted_id)
        current_event = {**event, "content": mapping(event.get("content")).get("m.new_content", event.get("content"))}
        base64, problem = await self._file(current_event) if _has_file(current_event) else ("", "")
        return MessageReferences(quoted, base64, problem)

    async def _file(self, event: Payload) -> tuple[str, str]:
        try:
            async with asyncio.timeout(FILE_TIMEOUT_SECONDS):
                return await self._files.fetch_base64(event)
        except TimeoutError:
            return "", f"it could not be fetched within {FILE_TIMEOUT_SECONDS:g} seconds"

    async def _fetch_event(self, room_id: str, event_id: str) -> Payload | None:
        try:
            async with asyncio.timeout(LOOKUP_TIMEOUT_SECONDS):
                return mapping(_shallow(await self._client.get(api_path("rooms", room_id, "event", event_id))))
        except (PlatformRefused, PlatformUncertain, TimeoutError):
            return None

    async def _may_edit(self, event: Payload, room: MatrixRoom) -> bool:
        """Returns whether the editor is the author of the message.

        Homeservers also relay edits by others, which clients must ignore.
        """
        original = await self._fetch_event(room.room_id, text(content.relation(event), "event_id"))
        return original is None or original.get("sender") == event.get("sender")

    def _remember(self, event: Payload) -> None:
        """Caches a reaction by its event id, which is all that a redaction contains when it is withdrawn."""
        if event.get("type") != "m.reaction" or not text(event, "event_id"):
            return
        try:
            self._reactions[event["event_id"]] = decode.parse_reaction(event)
        except ValueError:
            return
        if len(self._reactions) > MAX_CACHED_REACTIONS:
            self._reactions.popitem(last=False)

    async def _redaction(self, event: Payload, context: MatrixDecodeContext) -> IncomingEvent | None:
        redacted_id = decode.redacted_id(event)
        reaction = self._reactions.pop(redacted_id, None)
        if reaction is None and redacted_id:
            redacted = await self._fetch_event(context.room.room_id, redacted_id) or {}
            if redacted.get("type", "m.room.message") not in ("m.room.message", content.STICKER, decode.ENCRYPTED):
                return self._other_redaction(event, context, text(redacted, "type"))
        return decode.decode(event, replace(context, withdrawn=reaction))

    def _other_redaction(self, event: Payload, context: MatrixDecodeContext, kind: str) -> IncomingEvent | None:
        """Decodes the redaction of an event that is no message, such as an old reaction whose content is no longer
        known.
        """
        described_event = {**event, "type": "redacted", "content": {"redacts": decode.redacted_id(event), "type": kind}}
        return decode.decode(described_event, context)

    def _invitation(self, room_id: str, state: list[Payload], previous_membership: str) -> IncomingEvent:
        """Builds the event of an invitation.

        Most homeservers send no id or time with it, so a stable id is derived from its room and sync position.
        """
        native: Payload = {**decode.genuine_invite(state, self._own_id), "room_id": room_id}
        now, derived_id = int(time.time() * 1000), f"invitation to {room_id} after {previous_membership}"
        stamped: Payload = {"event_id": derived_id, "origin_server_ts": now, **native}
        try:
            event: PlatformEvent = decode.invitation(stamped, state, decode.event_fields(stamped, self._bot_id))
        except (ValueError, TypeError):
            event = decode.malformed_event(stamped, self._decode_context(MatrixRoom(room_id)), "ValueError")
        return IncomingEvent(event.carrying(native), self_id=self._own_id, native_type="m.room.member")

    def _gap(self, timeline: Timeline) -> IncomingEvent:
        first_event = mapping(timeline.events[0])
        room = timeline.room
        data = {"chat_type": room.chat_type, "chat_id": room.chat_id, "read": MAX_MISSED_EVENTS}
        event = PlatformSpecific(
            type=f"platform.{NAME}.gap",
            event_id=f"gap before {text(first_event, 'event_id')}",
            timestamp=number(first_event.get("origin_server_ts")) or 0,
            bot_id=self._bot_id,
            adapter_name=NAME,
            action="gap",
            data=data,
        )
        return IncomingEvent(event, self_id=self._own_id)


def _shallow(event: Any) -> Any:
    """Removes the content of an event that nests too deep, so that it is reported as malformed."""
    if not too_deep(event):
        return event
    return {name: each for name, each in mapping(event).items() if isinstance(each, str | int)}


def _has_references(event: Payload) -> bool:
    return bool(content.reply_target_id(event)) or _has_file(event) or "m.new_content" in mapping(event.get("content"))


def _has_file(event: Payload) -> bool:
    latest = content.latest_content(event)
    return bool(media.file_uri(event)) or (latest.get("msgtype") in content.MEDIA and "file" in latest)
