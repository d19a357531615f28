"""Fetches the posts of a time in which the bot was not connected, in the form of events of the WebSocket."""

import json
import time

from parlour.core.encoding import dumps
from parlour.core.platforms.port import PlatformRefused, PlatformUncertain
from parlour.platforms._kit.payloads import UNREADABLE, Payload, number, object_in, text

from .client import MattermostClient

OVERLAP_MILLISECONDS = 1000
"""How far before the last stored post missed ones are looked for: the server shows posts in no strict order."""
MAX_CLOCK_SKEW_MILLISECONDS = 24 * 3600 * 1000
"""A post that is further in the future has no usable time."""


class MissedPosts:
    """Reads the channels of one bot."""

    def __init__(self, client: MattermostClient) -> None:
        self._client = client

    async def has_team(self) -> bool:
        """Returns whether the bot is in a team; true if the server does not say."""
        try:
            return bool(await self._client.get_list("users/me/teams", "teams"))
        except (PlatformRefused, PlatformUncertain):
            return True

    async def newest(self, user_id: str) -> int:
        """Returns the time of the newest post in the bot's channels, from which on posts are handled."""
        channels = await self._client.get_list(f"users/{user_id}/channels", "channels")
        return max((number(each.get("last_post_at")) or 0 for each in channels), default=0) or _now()

    async def since(self, user_id: str, moment: int) -> list[Payload]:
        """Returns an event for each post that was written, edited or deleted after this time, in its order.

        Edits in a channel without a newer post are not found.
        """
        since = max(0, moment - OVERLAP_MILLISECONDS)
        found: list[tuple[int, Payload]] = []
        for channel in await self._client.get_list(f"users/{user_id}/channels", "channels"):
            if (number(channel.get("last_post_at")) or 0) > since:
                found += await self._of_channel(channel, moment)
        return [event for _, event in sorted(found, key=lambda each: each[0])]

    async def _of_channel(self, channel: Payload, moment: int) -> list[tuple[int, Payload]]:
        channel_id, since = text(channel, "id"), max(0, moment - OVERLAP_MILLISECONDS)
        answer = await self._client.get(f"channels/{channel_id}/posts", "missed posts", since=since)
        posts = [each for each in object_in(answer, "posts").values() if isinstance(each, dict)]
        return [(_time(post), _event(kind, post, channel)) for post in posts for kind in _kinds(post, since, moment)]


def post_time(event: Payload) -> int | None:
    """Returns the time at which the post of an event was changed; None if it is about something else."""
    if not str(event.get("event")).startswith("post"):
        return None
    try:
        post = json.loads(object_in(event, "data")["post"])
        moment = _time(post)
    except UNREADABLE:
        return None
    return moment if 0 < moment < _now() + MAX_CLOCK_SKEW_MILLISECONDS else None


def _time(post: Payload) -> int:
    return number(post.get("update_at")) or number(post.get("create_at")) or 0


def _kinds(post: Payload, since: int, moment: int) -> list[str]:
    """Returns the kinds of events that would have reported a post; none if only its reactions have changed. Of a post
    between these times it is not known whether it was stored: it is reported again, and so is its edit.
    """
    created_at, edited_at = number(post.get("create_at")) or 0, number(post.get("edit_at")) or 0
    if number(post.get("delete_at")):
        return ["post_deleted"] if created_at <= moment else []
    posted = ["posted"] if created_at > since else []
    return [*posted, *(["post_edited"] if created_at <= moment and edited_at > since else [])]


def _event(kind: str, post: Payload, channel: Payload) -> Payload:
    data = {
        "post": dumps(post),
        "channel_type": text(channel, "type"),
        "channel_display_name": text(channel, "display_name"),
    }
    return {"event": kind, "data": data, "broadcast": {"channel_id": text(channel, "id")}}


def _now() -> int:
    return round(time.time() * 1000)
