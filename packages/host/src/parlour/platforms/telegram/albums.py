"""Collects albums: Telegram sends each picture as a message, and they become one. Pure: the time is passed in.

An album is complete when it has ten parts, when another message arrives in its chat, or when no part arrived for a
while.
"""

from collections.abc import Iterable, Mapping

from parlour_sdk.values import dataclass

from .content import ALBUM
from .entities import Payload, object_in

MAX_ALBUM_PARTS = 10
QUIET_SECONDS = 0.7
MAX_ALBUM_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Album:
    """An incomplete album, identified by `chat` and `group`."""

    chat: str
    group: str
    updates: tuple[Payload, ...]
    due_at: float
    latest_at: float

    def with_part(self, update: Payload, now: float) -> "Album":
        due_at = min(now + QUIET_SECONDS, self.latest_at)
        return Album(self.chat, self.group, (*self.updates, update), due_at, self.latest_at)

    def merged(self) -> Payload:
        """Builds one update from all parts: the first one, with all messages in their order."""
        kind = _kind(self.updates[0])
        ordered = sorted(self.updates, key=lambda update: update[kind].get("message_id", 0))
        first_part = ordered[0]
        return {**first_part, kind: {**first_part[kind], ALBUM: [update[kind] for update in ordered]}}


@dataclass(frozen=True, slots=True)
class CollectedAlbums:
    """Updates that are ready to be processed, and albums that still wait for parts."""

    ready: list[Payload]
    open: tuple[Album, ...]


def collect(open_albums: Iterable[Album], updates: Iterable[Payload], now: float) -> CollectedAlbums:
    """Adds updates. Returns the updates that can be processed, in order, and the albums that still wait for parts."""
    albums = {album.chat: album for album in open_albums}
    ready: list[Payload] = []
    for update in updates:
        chat, group = _album_key(update)
        album = albums.get(chat)
        if album is not None and album.group != group:
            ready.append(albums.pop(chat).merged())
            album = None
        if not group:
            ready.append(update)
            continue
        album = album or Album(chat, group, (), 0.0, now + MAX_ALBUM_SECONDS)
        if not _is_part(album, update):
            album = album.with_part(update, now)
        albums[chat] = album
        if len(album.updates) == MAX_ALBUM_PARTS:
            ready.append(albums.pop(chat).merged())
    return CollectedAlbums(ready, tuple(albums.values()))


def complete_due(open_albums: Iterable[Album], now: float) -> CollectedAlbums:
    """Completes the albums for which no part arrived in time."""
    albums = list(open_albums)
    completed = [album.merged() for album in albums if album.due_at <= now]
    return CollectedAlbums(completed, tuple(album for album in albums if album.due_at > now))


def pending_updates(open_albums: Iterable[Album]) -> list[Payload]:
    """Returns the updates of incomplete albums for storage, so that a restart loses none."""
    return [update for album in open_albums for update in album.updates]


def _album_key(update: Payload) -> tuple[str, str]:
    """Returns the chat, and the album if the message is part of one; empty strings for other updates."""
    message = object_in(update, _kind(update))
    group = message.get("media_group_id")
    return str(object_in(message, "chat").get("id", "")), group if isinstance(group, str) else ""


def _kind(update: Mapping[str, object]) -> str:
    return "channel_post" if "channel_post" in update else "message"


def _is_part(album: Album, update: Payload) -> bool:
    return any(each.get("update_id") == update.get("update_id") for each in album.updates)
