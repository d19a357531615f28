"""Converts a chain into calls of the Bot API, in order.

Text before a picture becomes the caption above it; adjacent pictures become an album; what Telegram shows only alone
gets its own message.
"""

import base64
import binascii
import itertools
import mimetypes
from collections.abc import Awaitable, Callable
from dataclasses import field, replace
from typing import Literal

from parlour.core.platforms.port import FileContent, PlatformRefused
from parlour.platforms._kit.buttons import BUTTONS_COMPONENT, Button, read_buttons, require_short_data
from parlour.platforms._kit.http_client import Upload
from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Component,
    Face,
    File,
    Forward,
    Image,
    Media,
    MessageChain,
    Plain,
    Platform,
    Quote,
    Source,
    Unknown,
    Video,
    Voice,
)
from parlour_sdk.values import dataclass

from .client import MAX_UPLOAD_BYTES
from .entities import NAME, Payload
from .markup import MAX_CAPTION_LENGTH, EntityText, render_markdown, utf16_length

MAX_DATA_BYTES = 64
MAX_PHOTO_BYTES = 10 * 1024 * 1024
_METHODS = {
    "photo": "sendPhoto",
    "animation": "sendAnimation",
    "video": "sendVideo",
    "voice": "sendVoice",
    "audio": "sendAudio",
    "document": "sendDocument",
}
_ENDINGS = {"photo": "jpg", "animation": "gif", "video": "mp4", "voice": "ogg", "audio": "mp3", "document": "bin"}
_VOICES = ("audio/ogg", "audio/opus", "")
_numbers = itertools.count(1)
"""Numbers of form fields, which must differ within one request. Sharing them between bots has no effect."""
Kind = Literal["photo", "animation", "video", "voice", "audio", "document"]
Fetch = Callable[[str], Awaitable[FileContent]]
MAX_ALBUM_SIZE = 10
OWN_METHODS = {
    "dice": "sendDice",
    "location": "sendLocation",
    "venue": "sendVenue",
    "contact": "sendContact",
    "poll": "sendPoll",
}


def build_keyboard(data: Payload) -> Payload:
    """Builds the keyboard: one row, or several if a list of lists of buttons is given."""
    return {"inline_keyboard": [[_button(each) for each in row] for row in read_buttons(data)]}


def _button(button: Button) -> Payload:
    if button.url:
        return {"text": button.label, "url": button.url}
    return {"text": button.label, "callback_data": require_short_data(button, MAX_DATA_BYTES, "Telegram")}


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of a message."""

    kind: Kind
    media: str
    """An address, a file id of Telegram, or attach:// with the name of the upload."""
    upload: Upload | None = None

    @property
    def method(self) -> str:
        return _METHODS[self.kind]

    @property
    def family(self) -> str:
        """Group of kinds that can share an album; a kind that has to stay alone gets a unique value."""
        if self.kind in ("photo", "video"):
            return "visual"
        return self.kind if self.kind in ("audio", "document") else f"{self.kind} {self.media}"


async def prepare_attachment(component: Media, fetch: Fetch) -> Attachment:
    """Prepares a file for sending. Raises PlatformRefused with a reason if it can't be sent."""
    mime_type = component.mime_type or mimetypes.guess_type(component.name or component.url or "")[0] or ""
    if component.url:
        return Attachment(_kind(component, mime_type, component.size or 0), component.url)
    if component.artifact_id:
        content = await fetch(component.artifact_id)
        data, name, mime_type = content.data, component.name or content.name, mime_type or content.mime_type
    elif component.base64:
        data, name = _decoded(component.base64), component.name or ""
    else:
        reason = "a path of the Host's machine is not sent; give url, base64 or artifact_id instead"
        raise PlatformRefused(reason, permanent=True)
    if len(data) > MAX_UPLOAD_BYTES:
        size = f"{len(data) / 2**20:.0f} MB"
        raise PlatformRefused(f"the file has {size}, and Telegram takes at most 50 MB from bots", permanent=True)
    kind = _kind(component, mime_type, len(data))
    field = f"file{next(_numbers)}"
    upload = Upload(field, data, name or f"{kind}.{_ENDINGS[kind]}", mime_type or "application/octet-stream")
    return Attachment(kind, f"attach://{field}", upload)


def _kind(component: Media, mime_type: str, size: int) -> Kind:
    match component:
        case Image() if mime_type == "image/gif":
            return "animation"
        case Image() if size <= MAX_PHOTO_BYTES:
            return "photo"
        case Video():
            return "video"
        case Voice():
            return "voice" if mime_type.partition(";")[0] in _VOICES else "audio"
    return "document"


def _decoded(content: str) -> bytes:
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        raise PlatformRefused("base64: this is not base64", permanent=True) from None


@dataclass(frozen=True, slots=True)
class TelegramCall:
    """One call of the Bot API."""

    method: str
    params: Payload
    uploads: tuple[Upload, ...] = ()

    def with_params(self, **params: object) -> "TelegramCall":
        return replace(self, params={**self.params, **params})


@dataclass(slots=True)
class _Assembly:
    calls: list[TelegramCall] = field(default_factory=list)
    text: EntityText = field(default_factory=EntityText)
    album: list[Attachment] = field(default_factory=list)

    def add(self, attachment: Attachment) -> None:
        """Adds a file to the open album, or starts another one if it does not fit there."""
        if self.album and (self.album[0].family != attachment.family or len(self.album) == MAX_ALBUM_SIZE):
            self.close_album()
        if not self.text.blank and not self._is_caption(attachment):
            self.close_text()
        self.album.append(attachment)

    def _is_caption(self, attachment: Attachment) -> bool:
        return attachment.family == "visual" and utf16_length(self.text.text) <= MAX_CAPTION_LENGTH

    def add_text(self, text: EntityText) -> None:
        self.close_album()
        self.text.join(text)

    def add_call(self, call: TelegramCall) -> None:
        self.close_album()
        self.close_text()
        self.calls.append(call)

    def close_text(self) -> None:
        if not self.text.blank:
            self.calls.append(TelegramCall("sendMessage", self.text.parameters()))
        self.text = EntityText()

    def close_album(self) -> None:
        album, self.album = self.album, []
        if not album:
            return
        text, self.text = self.text, EntityText()
        caption = {**text.parameters("caption"), "show_caption_above_media": True} if not text.blank else {}
        uploads = tuple(each.upload for each in album if each.upload is not None)
        if len(album) == 1:
            [only] = album
            self.calls.append(TelegramCall(only.method, {only.kind: only.media, **caption}, uploads))
            return
        media = [{"type": each.kind, "media": each.media} for each in album]
        self.calls.append(TelegramCall("sendMediaGroup", {"media": [{**media[0], **caption}, *media[1:]]}, uploads))


async def encode(chain: MessageChain, fetch: Fetch, markdown: bool) -> list[TelegramCall]:
    """Encodes a chain; the result is empty if there is nothing to send.

    The quote goes to the first message, buttons to the last.
    """
    assembly, quote, keyboard = _Assembly(), "", None
    for component in chain:
        match component:
            case Quote():
                quote = component.id or quote
            case Image() | Voice() | Video() | File():
                assembly.add(await prepare_attachment(component, fetch))
            case Platform() if component.platform == NAME and component.component_type == BUTTONS_COMPONENT:
                keyboard = build_keyboard(component.data)
            case Platform() if component.platform == NAME and component.component_type in OWN_METHODS:
                assembly.add_call(TelegramCall(OWN_METHODS[component.component_type], dict(component.data)))
            case Face():
                assembly.add_call(TelegramCall("sendSticker", {"sticker": component.id}))
            case _:
                assembly.add_text(_component_text(component, markdown))
    assembly.close_album()
    assembly.close_text()
    return _finished(assembly.calls, quote, keyboard)


def _finished(calls: list[TelegramCall], quote: str, keyboard: Payload | None) -> list[TelegramCall]:
    if calls and quote.isdecimal():
        reply_parameters = {"message_id": int(quote), "allow_sending_without_reply": True}
        calls[0] = calls[0].with_params(reply_parameters=reply_parameters)
    if calls and keyboard is not None:
        if calls[-1].method == "sendMediaGroup":  # an album can't have buttons
            calls.append(TelegramCall("sendMessage", {"text": "⬆️"}))
        calls[-1] = calls[-1].with_params(reply_markup=keyboard)
    return calls


def text_and_keyboard(chain: MessageChain, markdown: bool) -> tuple[EntityText, Payload]:
    """Returns text and keyboard of an edited message; an empty keyboard removes the buttons."""
    text, keyboard = EntityText(), build_keyboard({})
    for component in chain:
        if isinstance(component, Platform) and component.component_type == BUTTONS_COMPONENT:
            keyboard = build_keyboard(component.data)
        else:
            text.join(_component_text(component, markdown))
    return text, keyboard


def _component_text(component: Component, markdown: bool) -> EntityText:
    match component:
        case Plain():
            return render_markdown(component.text, markdown)
        case At():
            return _mention(component)
        case AtAll():
            return EntityText("@all")
        case Unknown():
            return EntityText(component.text)
        case Forward():
            text = EntityText()
            for node in component.nodes:
                text.add(f"{node.name or node.sender or '?'}: ", type="bold")
                for each in node.chain:
                    text.join(_component_text(each, markdown=False))
                text.add("\n")
            return text
        case Platform():
            return EntityText(f"[{component.component_type}]")
        case Image() | Voice() | Video() | File():
            return EntityText(f"[{component.name or component.type.lower()}]")
        case Source() | Quote() | Face():
            return EntityText()


def _mention(mention: At) -> EntityText:
    """Mentions a user by user name if there is one, otherwise with a link to the user."""
    text = EntityText()
    if mention.target.startswith("@"):
        text.add(mention.target)
    elif mention.target.isdecimal():
        text.add(f"@{mention.display or mention.target}", type="text_mention", user={"id": int(mention.target)})
    else:
        text.add(f"@{mention.display or mention.target}")
    return text
