"""Completes, decodes and stores the events of Mattermost, in order within a channel."""

import asyncio
import base64
import logging
from collections.abc import Callable
from typing import Any

from parlour.core.platforms.port import HostLink, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.payloads import UNREADABLE, Payload, number, object_in, objects_in, text, texts_in

from .client import MAX_DOWNLOAD_BYTES, MattermostClient
from .content import CONTENT, PROBLEM, mentioned_names
from .decode import IGNORED, KNOWN_KEY, MattermostDecodeContext, channel_of, decode, read_object, user_of
from .directory import MattermostDirectory
from .entities import DIRECT, MattermostAccount
from .gateway import MattermostEvent

logger = logging.getLogger(__name__)


class MattermostEventProcessor:
    """Handles the events of one bot."""

    def __init__(
        self,
        link: HostLink,
        client: MattermostClient,
        directory: MattermostDirectory,
        account: Callable[[], MattermostAccount],
        cursor: Callable[[MattermostEvent], str | None],
    ) -> None:
        self._link = link
        self._client = client
        self._directory = directory
        self._account = account
        self._cursor = cursor
        self._last_posts: BoundedMap[str, str] = BoundedMap()
        """The newest post of each channel, which distinguishes one removal of the bot from the next."""

    async def store(self, event: MattermostEvent) -> None:
        """Stores what an event becomes; it is durable when this returns."""
        data = event.data
        if isinstance(data, dict) and data.get("event") not in IGNORED:
            try:
                data = {**data, KNOWN_KEY: await self._known(data)}
            except UNREADABLE:
                logger.warning("an event for bot %s does not match Mattermost's format", self._link.bot_id)
        incoming = decode(data, MattermostDecodeContext(self._link.bot_id, self._account()))
        if incoming:
            await self._link.receive(*incoming, cursor=self._cursor(event))

    async def _known(self, event: Payload) -> Payload:
        """Returns what Mattermost provides only on request: the channel, the user with the role, names and files."""
        data = object_in(event, "data")
        content = next((read_object(data[name]) for name in ("post", "reaction") if name in data), {})
        channel_id = channel_of(event) or text(content, "channel_id")
        user_id = user_of(event, content)
        if text(content, "user_id") == self._account().id and event["event"] == "posted" and not text(content, "type"):
            return {}  # the bot's own post
        known: Payload = {}
        if channel_id:
            known["channel"] = await self._directory.channels.find(channel_id)
            known["last_post"] = self._last_posts.get(channel_id) or ""
        if user_id:
            known["user"] = await self._directory.users.find(user_id)
        if channel_id and user_id and text(known.get("channel") or {}, "type") != DIRECT:
            known["member"] = await self._directory.find_member(channel_id, user_id)
        if "post" in data:
            known |= await self._about_post(content)
            self._last_posts.set(channel_id, text(content, "id"))
        return known

    async def _about_post(self, post: Payload) -> Payload:
        known: Payload = {}
        if names := mentioned_names(post.get("message")):
            known["names"] = await self._directory.find_names(names)
        if root_id := text(post, "root_id"):
            known["root"] = await self._directory.posts.find(root_id)
        if texts_in(post, "file_ids") and not post.get("delete_at"):
            known["files"] = await self._files(post)
        return known

    async def _files(self, post: Payload) -> list[Payload]:
        """Returns the files of a post with their contents, or with the reason why there are none."""
        described = {text(each, "id"): each for each in objects_in(object_in(post, "metadata"), "files")}
        wanted = texts_in(post, "file_ids")
        return list(await asyncio.gather(*(self._file(each, described.get(each)) for each in wanted)))

    async def _file(self, file_id: str, described: Payload | None) -> Payload:
        file: dict[str, Any] = described or {}
        try:
            if not file:
                file = await self._client.get(f"files/{file_id}/info", "file")
            size = number(file.get("size"))
            if size is not None and size > MAX_DOWNLOAD_BYTES:
                return {**file, PROBLEM: f"it has {size / 2**20:.0f} MiB, more than the 20 MiB that are fetched"}
            return {**file, CONTENT: base64.b64encode(await self._client.download(file_id)).decode()}
        except (PlatformRefused, PlatformUncertain) as error:
            return {**file, PROBLEM: str(error)}
