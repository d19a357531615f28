"""Completes, decodes and stores what Slack reports, in order within a channel."""

import asyncio
import base64
import logging
from collections.abc import Callable

from parlour.core.platforms.port import HostLink, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.payloads import Payload, number, object_in, objects_in, text

from .client import MAX_DOWNLOAD_BYTES, SlackClient
from .content import CONTENT, PROBLEM
from .decode import USER_KEY, SlackDecodeContext, decode, user_of
from .entities import SlackAccount
from .users import SlackUsers

logger = logging.getLogger(__name__)


class SlackEventProcessor:
    """Handles the reports of one bot."""

    def __init__(
        self, link: HostLink, client: SlackClient, users: SlackUsers, account: Callable[[], SlackAccount]
    ) -> None:
        self._link = link
        self._client = client
        self._users = users
        self._account = account

    async def store(self, kind: str, payload: Payload) -> None:
        """Stores the events of a report; they are durable when it returns."""
        context = SlackDecodeContext(self._link.bot_id, self._account())
        try:
            payload = await self._complete(kind, payload)
        except (ValueError, TypeError, AttributeError, KeyError):
            logger.warning("a report for bot %s does not match Slack's format", self._link.bot_id)
        incoming = decode(kind, payload, context)
        if incoming:
            await self._link.receive(*incoming)

    async def _complete(self, kind: str, payload: Payload) -> Payload:
        """Adds what Slack provides only on request: the user, and the content of files."""
        me, event = self._account(), object_in(payload, "event")
        user_id = user_of(kind, payload)
        if user_id and user_id != me.user_id:
            payload = {**payload, USER_KEY: await self._users.find(user_id)}
        files = objects_in(event, "files")
        if files and not me.is_own(event):
            fetched = await asyncio.gather(*(self._fetch(each) for each in files))
            payload = {**payload, "event": {**event, "files": fetched}}
        return payload

    async def _fetch(self, file: Payload) -> Payload:
        """Returns a file with its content, or with the reason why there is none."""
        if file.get("file_access") == "check_file_info":
            file = await self._shared_file(file)
        size = number(file.get("size"))
        if size is not None and size > MAX_DOWNLOAD_BYTES:
            return {**file, PROBLEM: f"it has {size / 2**20:.0f} MiB, more than the 20 MiB that are fetched"}
        url = text(file, "url_private_download") or text(file, "url_private")
        try:
            return {**file, CONTENT: base64.b64encode(await self._client.download(url)).decode()}
        except (PlatformRefused, PlatformUncertain) as error:
            return {**file, PROBLEM: str(error)}

    async def _shared_file(self, file: Payload) -> Payload:
        """Returns a file of another workspace, about which Slack reports only its id."""
        try:
            return object_in(await self._client.call("files.info", file=text(file, "id")), "file") or file
        except (PlatformRefused, PlatformUncertain):
            return file
