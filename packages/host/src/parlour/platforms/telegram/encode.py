"""Converts a chain into calls of the Bot API, in order.

Text before a picture becomes the caption above it; adjacent pictures become an album; what Telegram shows only alone
gets its own message.
"""

from collections.abc import Awaitable, Callable
from dataclasses import field, replace

from parlour.core.platforms.port import Content
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
from .attachments import Attachment, attached
from .client import Upload
from .markdown import written
from .text_entities import LONGEST_CAPTION, Text, length
from .values import NAME, Payload

MOST_IN_ALBUM = 10
OWN_METHODS = {
    "dice": "sendDice",
    "location": "sendLocation",
    "venue": "sendVenue",
    "contact": "sendContact",
    "poll": "sendPoll",
}
Fetch = Callable[[str], Awaitable[Content]]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the Bot API."""

    method: str
    params: Payload
    uploads: tuple[Upload, ...] = ()

    def also(self, **params: object) -> "Call":
        return replace(self, params={**self.params, **params})


@dataclass(slots=True)
class _Assembly:
    calls: list[Call] = field(default_factory=list)
    text: Text = field(default_factory=Text)
    album: list[Attachment] = field(default_factory=list)

    def add(self, attachment: Attachment) -> None:
        """Adds a file to the open album, or starts another one if it does not fit there."""
        if self.album and (self.album[0].family != attachment.family or len(self.album) == MOST_IN_ALBUM):
            self.close_album()
        if not self.text.blank and not self._is_caption(attachment):
            self.close_text()
        self.album.append(attachment)

    def _is_caption(self, attachment: Attachment) -> bool:
        return attachment.family == "visual" and length(self.text.text) <= LONGEST_CAPTION

    def say(self, text: Text) -> None:
        self.close_album()
        self.text.join(text)

    def alone(self, call: Call) -> None:
        self.close_album()
        self.close_text()
        self.calls.append(call)

    def close_text(self) -> None:
        if not self.text.blank:
            self.calls.append(Call("sendMessage", self.text.parameters()))
        self.text = Text()

    def close_album(self) -> None:
        album, self.album = self.album, []
        if not album:
            return
        text, self.text = self.text, Text()
        above = {**text.parameters("caption"), "show_caption_above_media": True} if not text.blank else {}
        uploads = tuple(each.upload for each in album if each.upload is not None)
        if len(album) == 1:
            [only] = album
            self.calls.append(Call(only.method, {only.kind: only.media, **above}, uploads))
            return
        media = [{"type": each.kind, "media": each.media} for each in album]
        self.calls.append(Call("sendMediaGroup", {"media": [{**media[0], **above}, *media[1:]]}, uploads))


async def encode(chain: MessageChain, fetch: Fetch, markdown: bool) -> list[Call]:
    """Encodes a chain; the result is empty if there is nothing to send.

    The quote goes to the first message, buttons to the last.
    """
    assembly, quote, keyboard = _Assembly(), "", None
    for component in chain:
        match component:
            case Quote():
                quote = component.id or quote
            case Image() | Voice() | Video() | File():
                assembly.add(await attached(component, fetch))
            case Platform() if component.platform == NAME and component.component_type == buttons.COMPONENT:
                keyboard = buttons.keyboard(component.data)
            case Platform() if component.platform == NAME and component.component_type in OWN_METHODS:
                assembly.alone(Call(OWN_METHODS[component.component_type], dict(component.data)))
            case Face():
                assembly.alone(Call("sendSticker", {"sticker": component.id}))
            case _:
                assembly.say(_words(component, markdown))
    assembly.close_album()
    assembly.close_text()
    return _finished(assembly.calls, quote, keyboard)


def _finished(calls: list[Call], quote: str, keyboard: Payload | None) -> list[Call]:
    if calls and quote.isdecimal():
        answered = {"message_id": int(quote), "allow_sending_without_reply": True}
        calls[0] = calls[0].also(reply_parameters=answered)
    if calls and keyboard is not None:
        if calls[-1].method == "sendMediaGroup":  # an album can't have buttons
            calls.append(Call("sendMessage", {"text": "⬆️"}))
        calls[-1] = calls[-1].also(reply_markup=keyboard)
    return calls


def words_of(chain: MessageChain, markdown: bool) -> tuple[Text, Payload]:
    """Returns text and keyboard of an edited message; an empty keyboard removes the buttons."""
    text, keyboard = Text(), buttons.keyboard({})
    for component in chain:
        if isinstance(component, Platform) and component.component_type == buttons.COMPONENT:
            keyboard = buttons.keyboard(component.data)
        else:
            text.join(_words(component, markdown))
    return text, keyboard


def _words(component: Component, markdown: bool) -> Text:
    match component:
        case Plain():
            return written(component.text, markdown)
        case At():
            return _mention(component)
        case AtAll():
            return Text("@all")
        case Unknown():
            return Text(component.text)
        case Forward():
            text = Text()
            for node in component.nodes:
                text.add(f"{node.name or node.sender or '?'}: ", type="bold")
                for each in node.chain:
                    text.join(_words(each, markdown=False))
                text.add("\n")
            return text
        case Platform():
            return Text(f"[{component.component_type}]")
        case Image() | Voice() | Video() | File():
            return Text(f"[{component.name or component.type.lower()}]")
        case Source() | Quote() | Face():
            return Text()


def _mention(at: At) -> Text:
    """Mentions a user by user name if there is one, otherwise with a link to the user."""
    text = Text()
    if at.target.startswith("@"):
        text.add(at.target)
    elif at.target.isdecimal():
        text.add(f"@{at.display or at.target}", type="text_mention", user={"id": int(at.target)})
    else:
        text.add(f"@{at.display or at.target}")
    return text
