"""Converts a chain into calls of the Bot API, in order.

Text before a picture becomes the caption above it; adjacent pictures become an album; what Telegram shows only alone
gets its own message.
"""

from collections.abc import Awaitable, Callable
from dataclasses import field, replace

from parlour.core.platforms.port import FileContent
from parlour_sdk.protocol.chain import (
    At,
    AtAll,
    Component,
    Face,
    File,
    Forward,
    Image,
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

from . import buttons
from .attachments import Attachment, prepare_attachment
from .client import Upload
from .markdown import render_markdown
from .text_entities import MAX_CAPTION_LENGTH, EntityText, utf16_length
from .values import NAME, Payload

MAX_ALBUM_SIZE = 10
OWN_METHODS = {
    "dice": "sendDice",
    "location": "sendLocation",
    "venue": "sendVenue",
    "contact": "sendContact",
    "poll": "sendPoll",
}
Fetch = Callable[[str], Awaitable[FileContent]]


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
        above = {**text.parameters("caption"), "show_caption_above_media": True} if not text.blank else {}
        uploads = tuple(each.upload for each in album if each.upload is not None)
        if len(album) == 1:
            [only] = album
            self.calls.append(TelegramCall(only.method, {only.kind: only.media, **above}, uploads))
            return
        media = [{"type": each.kind, "media": each.media} for each in album]
        self.calls.append(TelegramCall("sendMediaGroup", {"media": [{**media[0], **above}, *media[1:]]}, uploads))


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
            case Platform() if component.platform == NAME and component.component_type == buttons.COMPONENT:
                keyboard = buttons.keyboard(component.data)
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
        answered = {"message_id": int(quote), "allow_sending_without_reply": True}
        calls[0] = calls[0].with_params(reply_parameters=answered)
    if calls and keyboard is not None:
        if calls[-1].method == "sendMediaGroup":  # an album can't have buttons
            calls.append(TelegramCall("sendMessage", {"text": "⬆️"}))
        calls[-1] = calls[-1].with_params(reply_markup=keyboard)
    return calls


def text_and_keyboard(chain: MessageChain, markdown: bool) -> tuple[EntityText, Payload]:
    """Returns text and keyboard of an edited message; an empty keyboard removes the buttons."""
    text, keyboard = EntityText(), buttons.keyboard({})
    for component in chain:
        if isinstance(component, Platform) and component.component_type == buttons.COMPONENT:
            keyboard = buttons.keyboard(component.data)
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


def _mention(at: At) -> EntityText:
    """Mentions a user by user name if there is one, otherwise with a link to the user."""
    text = EntityText()
    if at.target.startswith("@"):
        text.add(at.target)
    elif at.target.isdecimal():
        text.add(f"@{at.display or at.target}", type="text_mention", user={"id": int(at.target)})
    else:
        text.add(f"@{at.display or at.target}")
    return text
