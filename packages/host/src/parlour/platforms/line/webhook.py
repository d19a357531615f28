"""Receives the signed calls of LINE: verifies them, completes and stores their events, and only then acknowledges."""

import asyncio
import base64
import logging
from collections import defaultdict

from parlour.core.journal import StorageFailed
from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.core.platforms.port import HostLink, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame
from parlour.platforms._kit.payloads import UNREADABLE, Payload, number, object_in, objects_in, text
from parlour.platforms._kit.turns import Turns
from parlour.platforms._kit.webhooks import WebhookRejected, verify_signature

from .client import MAX_DOWNLOAD_BYTES, LineClient
from .content import CONTENT, FILES, PROBLEM
from .decode import GROUP_KEY, PROFILES_KEY, LineDecodeContext, decode
from .entities import LineSource, source
from .profiles import LineProfiles

logger = logging.getLogger(__name__)

SIGNATURE_HEADER = "x-line-signature"
WRONG_SIGNATURE = "calls arrive with another signature; channel_secret must be the one of the page Basic settings"


class LineWebhook:
    """Handles the calls for one bot."""

    def __init__(
        self,
        link: HostLink,
        secret: str,
        client: LineClient,
        profiles: LineProfiles,
        quote_tokens: BoundedMap[str, str],
    ) -> None:
        self._link = link
        self._secret = secret
        self._client = client
        self._profiles = profiles
        self._quote_tokens = quote_tokens
        self._turns = Turns()
        self._was_called = False
        """True after a call with a right signature: from then on a wrong one is another program's."""

    async def hook(self, call: HookCall) -> HookResponse:
        try:
            signature = call.headers.get(SIGNATURE_HEADER, "")
            verify_signature(signature, self._secret, call.body, encoding="base64")
        except WebhookRejected as rejected:
            if not self._was_called:
                self._link.report_status("connected", WRONG_SIGNATURE)
            return HookResponse(401, str(rejected))
        if not self._was_called:
            self._was_called = True
            self._link.report_status("connected")
        try:
            payload = read_frame(call.body)
        except FrameUnreadable:
            logger.warning("bot %s was called with something that is not a report", self._link.bot_id)
            return HookResponse(200)  # an error status would only make LINE repeat it
        context = LineDecodeContext(self._link.bot_id, text(payload, "destination"))
        chats = defaultdict(list)
        events = payload.get("events")
        for event in events if isinstance(events, list) else ():
            chats[_chat(event)].append(event)
        try:
            await asyncio.gather(*(self._store(chat, each, context) for chat, each in chats.items()))
        except StorageFailed as error:
            return HookResponse(503, error.message)
        return HookResponse(200)

    async def _store(self, chat: str, events: list[Payload], context: LineDecodeContext) -> None:
        """Stores the events of a chat in their order, behind those of earlier calls."""
        async with self._turns.turn(chat):
            for event in events:
                try:
                    event = await self._completed(event)
                except UNREADABLE:
                    logger.warning("an event for bot %s does not match LINE's format", self._link.bot_id)
                if incoming := decode(event, context):
                    await self._link.receive(*incoming)

    async def _completed(self, event: Payload) -> Payload:
        """Adds what LINE provides only on request: names, and the content of files."""
        place = source(event["source"])
        users = [place.user_id] if place.user_id else []
        for name in ("joined", "left"):
            users += [text(each, "userId") for each in objects_in(object_in(event, name), "members")]
        names, group, message = await asyncio.gather(
            self._names(users, place), self._profiles.find_group(place), self._message(event)
        )
        return {**event, **message, PROFILES_KEY: names, GROUP_KEY: group}

    async def _names(self, users: list[str], place: LineSource) -> dict[str, Payload]:
        found = await asyncio.gather(*(self._profiles.find_user(each, place) for each in users))
        return dict(zip(users, found, strict=True))

    async def _message(self, event: Payload) -> Payload:
        """Returns the message of an event with its content, or with the reason why there is none."""
        message = object_in(event, "message")
        if token := text(message, "quoteToken"):
            self._quote_tokens.set(text(message, "id"), token)
        is_external = object_in(message, "contentProvider").get("type") == "external"
        if message.get("type") not in FILES or is_external or event.get("mode") == "standby":
            return {}
        size = number(message.get("fileSize"))
        if size is not None and size > MAX_DOWNLOAD_BYTES:
            problem = f"it has {size / 2**20:.0f} MiB, more than the 20 MiB that are fetched"
            return {"message": {**message, PROBLEM: problem}}
        try:
            content = base64.b64encode(await self._client.content(text(message, "id"))).decode()
        except (PlatformRefused, PlatformUncertain) as error:
            return {"message": {**message, PROBLEM: str(error)}}
        return {"message": {**message, CONTENT: content}}


def _chat(event: Payload) -> str:
    """Returns the chat of an event, which orders it among others."""
    try:
        return source(event["source"]).chat_id
    except UNREADABLE:
        return ""
