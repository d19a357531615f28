"""Sends messages to chats of Lark, and shows answers in cards, whose text grows while they are written.

Each change of a card has a number, which must be larger than all before, also after a restart. It is the number of
milliseconds since Lark received the message of the card, which a later process can look up.
"""

import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

from parlour.core.encoding import dumps
from parlour.core.platforms.api import PlatformStream
from parlour.platforms._kit.bounded_map import BoundedMap
from parlour.platforms._kit.http_client import Upload
from parlour.platforms._kit.ids import short_key
from parlour.platforms._kit.payloads import Payload, object_in, text
from parlour_sdk.protocol.chain import MessageChain, Plain
from parlour_sdk.protocol.platform_api import MessageResult
from parlour_sdk.values import dataclass

from .client import LarkRefused, LarkTenantClient
from .encode import AUDIO, CARD, FILE, IMAGE, MEDIA, TEXT_ELEMENT, LarkMessage, card, card_text, escape_mentions
from .entities import USER_PREFIX, time_milliseconds

logger = logging.getLogger(__name__)

SEQUENCE_ERROR = 300317
CLOSED_CODES = (200850, 300309)
"""Codes of a card that no longer streams: Lark ends that after 10 minutes."""
FIRST_NUMBER = 86_400_000
"""Number of a change at the time of the message; it allows for a clock that is a day behind Lark's."""
MAX_NUMBER = 2**31 - 1
SEQUENCE_STEP = 1000
MAX_CARD_BYTES = 28_000
"""Largest text of a card, of which Lark takes 30 KB."""
KEY_LENGTH = 40
_FILE_TYPES = {
    ".pdf": "pdf",
    ".doc": "doc",
    ".docx": "doc",
    ".xls": "xls",
    ".xlsx": "xls",
    ".ppt": "ppt",
    ".pptx": "ppt",
}


@dataclass(frozen=True, slots=True)
class LarkTarget:
    """Where a message is sent: a chat, or as an answer to a message, also in its thread."""

    chat_id: str
    reply_to: str = ""
    in_thread: bool = False


class LarkSender:
    """Sends what was encoded."""

    def __init__(self, client: LarkTenantClient) -> None:
        self._client = client
        self.kinds: BoundedMap[str, str] = BoundedMap()
        """Kinds of the bot's own messages, by message id."""

    async def send(self, target: LarkTarget, message: LarkMessage, key: str | None, place: int = 0) -> Payload:
        """Sends a message, once under the same key and place within an hour. Returns it as Lark describes it."""
        if message.file is not None and not message.content.get("image_key", message.content.get("file_key")):
            message.content = await self._upload(message)
        sent = await self.post(target, message.kind, message.payload(), key, place)
        # under a key that was used before, Lark returns the earlier message, which may be of another kind
        self.kinds.set(text(sent, "message_id"), text(sent, "msg_type") or message.kind)
        return sent

    async def post(self, target: LarkTarget, kind: str, content: str, key: str | None, place: int = 0) -> Payload:
        body: Payload = {"msg_type": kind, "content": content}
        if key is not None:
            body["uuid"] = short_key(f"{key}:{place}", KEY_LENGTH)
        if target.reply_to:
            path = f"im/v1/messages/{quote(target.reply_to, safe='')}/reply"
            answer = await self._client.call("POST", path, {**body, "reply_in_thread": target.in_thread})
        else:
            query: dict[str, str | int] = {"receive_id_type": id_type(target.chat_id)}
            answer = await self._client.call(
                "POST", "im/v1/messages", {"receive_id": target.chat_id, **body}, query=query
            )
        return object_in(answer, "data")

    async def _upload(self, message: LarkMessage) -> Payload:
        """Uploads the file of a message and returns the content that shows it."""
        file = message.file
        assert file is not None
        if message.kind == IMAGE:
            upload = Upload("image", file.data, file.name, file.mime_type)
            answer = await self._client.call("POST", "im/v1/images", form={"image_type": "message"}, uploads=(upload,))
            return {"image_key": text(object_in(answer, "data"), "image_key")}
        ending = file.name[file.name.rfind(".") :].lower() if "." in file.name else ""
        kind = {AUDIO: "opus", MEDIA: "mp4", FILE: _FILE_TYPES.get(ending, "stream")}[message.kind]
        form = {"file_type": kind, "file_name": file.name}
        if "duration" in message.content:
            form["duration"] = str(message.content["duration"])
        upload = Upload("file", file.data, file.name, file.mime_type)
        answer = await self._client.call("POST", "im/v1/files", form=form, uploads=(upload,))
        return {"file_key": text(object_in(answer, "data"), "file_key")}


def id_type(target_id: str) -> str:
    """Returns which kind of id a target is."""
    if target_id.startswith(USER_PREFIX):
        return "open_id"
    return "union_id" if target_id.startswith("on_") else "chat_id"


class LarkCard:
    """A card that was sent in a message."""

    def __init__(self, client: LarkTenantClient, card_id: str, sent_at: int) -> None:
        self._client = client
        self.card_id = card_id
        self._path = f"cardkit/v1/cards/{quote(card_id, safe='')}"
        self._sent_at = sent_at
        self._last_number = 0

    async def write(self, markdown: str) -> None:
        """Replaces the text; Lark types the new part if the old text is its beginning."""
        try:
            await self._change("PUT", f"/elements/{TEXT_ELEMENT}/content", content=markdown)
        except LarkRefused as refused:
            if refused.code not in CLOSED_CODES:
                raise
            await self.set_streaming(True)
            await self._change("PUT", f"/elements/{TEXT_ELEMENT}/content", content=markdown)

    async def set_streaming(self, is_streaming: bool) -> None:
        await self._change("PATCH", "/settings", settings=dumps({"config": {"streaming_mode": is_streaming}}))

    async def replace(self, content: Payload) -> None:
        """Replaces the whole card."""
        await self._change("PUT", "", card={"type": "card_json", "data": dumps(content)})

    async def _change(self, method: str, path: str, **fields: Any) -> None:
        """Makes a change under the next number, and once more under a larger one if it was used already."""
        for step in (1, SEQUENCE_STEP):
            elapsed = round(time.time() * 1000) - self._sent_at + FIRST_NUMBER
            self._last_number = min(max(self._last_number + step, elapsed), MAX_NUMBER)
            try:
                await self._client.call(method, f"{self._path}{path}", {**fields, "sequence": self._last_number})
                return
            except LarkRefused as refused:
                if refused.code != SEQUENCE_ERROR or step != 1:
                    raise


async def create_card(client: LarkTenantClient, content: Payload) -> str:
    """Creates a card and returns its id."""
    answer = await client.call("POST", "cardkit/v1/cards", {"type": "card_json", "data": dumps(content)})
    return text(object_in(answer, "data"), "card_id")


async def card_of_message(client: LarkTenantClient, message: Payload) -> LarkCard:
    """Returns the card of a message that an earlier process may have sent. Raises the errors of the platform port."""
    answer = await client.call("POST", "cardkit/v1/cards/id_convert", {"message_id": text(message, "message_id")})
    card_id = text(object_in(answer, "data"), "card_id")
    return LarkCard(client, card_id, time_milliseconds(message.get("create_time")))


class LarkCardStream(PlatformStream):
    """An answer that grows in a card. The card is sent with the first text.

    If Lark refuses cards, because the app lacks the permission, nothing is shown until the whole answer is sent.
    """

    def __init__(
        self,
        client: LarkTenantClient,
        sender: LarkSender,
        target: LarkTarget,
        key: str,
        send_rest: Callable[[MessageChain, str], Awaitable[MessageResult]],
        final_elements: list[Payload],
    ) -> None:
        self._client = client
        self._sender = sender
        self._target = target
        self._key = key
        self._send_rest = send_rest
        self._final_elements = final_elements
        self._text = ""
        self._card: LarkCard | None = None
        self._message_id = ""
        self._is_refused = False
        self._is_closed = False

    async def append(self, text: str) -> None:
        self._text += text
        if self._is_refused or len(self._text.encode()) > MAX_CARD_BYTES:
            return
        try:
            await self._show(self._text)
        except LarkRefused as refused:
            self._is_refused = True
            logger.warning("an answer is not shown while it is written: %s", refused)

    async def finish(self, chain: MessageChain) -> MessageResult:
        """Completes the card. What it can't show is sent in further messages."""
        shown, rest = _split(chain)
        if not shown or self._is_refused:
            result = await self._send_rest(chain, f"{self._key}:final" if self._message_id else self._key)
            return MessageResult(message_id=self._message_id or result.message_id)
        await self._complete(card_text(shown), self._final_elements)
        if rest:
            await self._send_rest(rest, f"{self._key}:rest")
        return MessageResult(message_id=self._message_id)

    async def fail(self, reason: str) -> None:
        """Ends the streaming of the card; its text stays."""
        if self._card is not None and not self._is_closed:
            await self._card.set_streaming(False)

    async def _show(self, markdown: str) -> None:
        if self._card is None:
            await self._send(escape_mentions(markdown))
        else:
            await self._card.write(escape_mentions(markdown))

    async def _send(self, markdown: str) -> None:
        """Sends the card with its first text; an earlier card under the same key is continued instead."""
        card_id = await create_card(self._client, card(markdown, is_streaming=True))
        content = dumps({"type": "card", "data": {"card_id": card_id}})
        sent = await self._sender.post(self._target, CARD, content, self._key)
        self._message_id = text(sent, "message_id")
        self._sender.kinds.set(self._message_id, CARD)
        self._card = found = await card_of_message(self._client, sent)
        if found.card_id != card_id:
            await found.set_streaming(True)
            await found.write(markdown)

    async def _complete(self, markdown: str, elements: list[Payload]) -> None:
        if self._card is None:
            await self._send(markdown)
        assert self._card is not None
        await self._card.write(markdown)
        await self._card.set_streaming(False)
        self._is_closed = True
        if elements:
            await self._card.replace(card(markdown, elements))


def _split(chain: MessageChain) -> tuple[MessageChain, MessageChain]:
    """Returns the components that the text of a card shows, and those behind them."""
    kinds = ("Plain", "At", "AtAll", "Unknown", "Face")
    place = next((place for place, each in enumerate(chain) if each.type not in kinds), len(chain))
    shown = chain[:place]
    has_text = any(isinstance(each, Plain) and each.text.strip() for each in shown)
    return (shown, chain[place:]) if has_text else ([], chain)
