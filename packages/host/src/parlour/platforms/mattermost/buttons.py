"""Signs the buttons of messages, and receives the calls that Mattermost makes when one is pressed.

Mattermost does not sign these calls. Each button therefore carries a signature of its data and channel, which only this
Host can make and which the server never shows to users. The post and the user's membership are checked as well.
"""

import hashlib
import logging

from parlour.core.journal import StorageFailed
from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.core.platforms.port import HostLink, IncomingEvent, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.buttons import parse_button_data
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame
from parlour.platforms._kit.payloads import Payload, content_id, object_in, text
from parlour.platforms._kit.webhooks import WebhookRejected, sign, verify_signature
from parlour_sdk.protocol.platform_events import InteractionReceived

from . import entities
from .directory import MattermostDirectory
from .entities import NAME, MattermostAccount

logger = logging.getLogger(__name__)

DATA, SIGNATURE = "parlour_data", "parlour_signature"
MAX_DATA_CHARACTERS = 4000


class MattermostButtons:
    """The buttons of one bot."""

    def __init__(self, link: HostLink, token: str, public_url: str, directory: MattermostDirectory) -> None:
        base = (public_url or link.public_url).rstrip("/")
        self._link = link
        self._key = hashlib.sha256(b"buttons of a bot\0" + token.encode()).digest()
        self._address = f"{base}/hooks/{link.bot_id}" if base else ""
        self._directory = directory

    def callback(self, channel_id: str, data: str) -> Payload | None:
        """Returns the callback of a button; None if the address of this Host is not known."""
        if not self._address or len(data) > MAX_DATA_CHARACTERS:
            return None
        context = {DATA: data, SIGNATURE: sign(self._key, _signed(channel_id, data))}
        return {"url": self._address, "context": context}

    async def hook(self, call: HookCall, me: MattermostAccount) -> HookResponse:
        """Stores a pressed button. The answer to it is empty; the message is edited later."""
        if call.method == "GET":
            return HookResponse(200, "this address takes the pressed buttons of Mattermost")
        try:
            payload = read_frame(call.body)
            context, channel_id = object_in(payload, "context"), text(payload, "channel_id")
            data = text(context, DATA)
            verify_signature(text(context, SIGNATURE), self._key, _signed(channel_id, data))
        except (FrameUnreadable, WebhookRejected):
            return HookResponse(401, "the signature is missing or wrong")
        try:
            event = await self._event(payload, data, channel_id, me)
        except (PlatformRefused, PlatformUncertain) as error:
            logger.warning("a pressed button of bot %s could not be checked: %s", self._link.bot_id, error)
            return HookResponse(503 if isinstance(error, PlatformUncertain) else 403, "the press could not be checked")
        if event is None:
            return HookResponse(403, "this button belongs to no message of the bot in this channel")
        try:
            await self._link.receive(event)
        except StorageFailed as failed:
            return HookResponse(503, failed.message)
        return HookResponse.json({})

    async def _event(self, payload: Payload, data: str, channel_id: str, me: MattermostAccount) -> IncomingEvent | None:
        """Returns the event of a press; None if the message is none of the bot. Raises the errors of the port."""
        post_id, user_id = text(payload, "post_id"), text(payload, "user_id")
        post = await self._directory.posts.get(post_id)
        if text(post, "user_id") != me.id or text(post, "channel_id") != channel_id:
            return None
        member = await self._directory.member(channel_id, user_id)
        person, channel = await self._directory.users.get(user_id), await self._directory.channels.get(channel_id)
        chat_type = entities.chat_type(text(channel, "type"))
        action_id, value = parse_button_data(data)
        press_id = content_id(text(payload, "trigger_id"), post_id, user_id, data)
        event = InteractionReceived(
            event_id=f"i:{press_id}",
            timestamp=0,
            bot_id=self._link.bot_id,
            adapter_name=NAME,
            chat_type=chat_type,
            chat_id=channel_id,
            group=entities.group(channel) if chat_type == "group" else None,
            interaction_id=press_id,
            user=entities.user(person),
            action_id=action_id,
            value=value,
            message_id=post_id,
        )
        native = {name: each for name, each in payload.items() if name != "context"}
        return IncomingEvent(
            event.carrying(native),
            thread_id=text(post, "root_id"),
            self_id=me.id,
            role=entities.role(member, person),
            native_type="action",
        )


def _signed(channel_id: str, data: str) -> bytes:
    return f"{channel_id}\0{data}".encode()
