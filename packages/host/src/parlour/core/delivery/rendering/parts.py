"""Renders an agent's message as the messages of one platform: split text, files and pictures as components, in order.

Text stays text: model output never becomes a mention, a command or a component of the platform.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from parlour.core.encoding import dumps
from parlour.core.message_policy.words import split_graphemes
from parlour.core.model.delivery_policy import DEFAULT_DELIVERY_POLICY, DeliveryPolicy
from parlour.core.platforms.manifest import AdapterManifest
from parlour_sdk.values import dataclass

from .components import media_component, media_fallback_text
from .sources import source_list
from .text_formatter import TextFormatter

Chain = list[dict[str, Any]]
_MIXED = frozenset(("Plain", "At", "AtAll", "Image", "Face", "Quote"))
"""Component types that can share a message with text; any other needs a message of its own."""
_TEXTUAL = _MIXED - {"Image"}
FULL_TEXT_KEY = "whole"
"""Metadata key of a message: the id of the file with the full text. A text that is too long for a chat is stored as a
file, and shown as its beginning with a note.
"""
_BETWEEN = "\n\n"
_THINK_START, _THINK_END = "<think>", "</think>"


@dataclass(frozen=True, slots=True)
class MessagePart:
    """One message of the platform and the text that it represents."""

    text: str
    chain: Chain


def render(
    message: Mapping[str, Any],
    manifest: AdapterManifest,
    policy: DeliveryPolicy = DEFAULT_DELIVERY_POLICY,
    quote: str = "",
    separate_media: bool = False,
    mention: str = "",
    footer: str = "",
) -> list[MessagePart]:
    """Renders a message into parts; blank parts are left out.

    `quote` is the platform's id of the message that is answered, `mention` the id of the person whom the first part
    mentions, `footer` a text that is added to the message's own. `separate_media` keeps pictures out of messages with
    text, because a message that was shown as text can only be edited into text.
    """
    builder = _PartBuilder(manifest, policy, _TEXTUAL if separate_media else _MIXED, _full_text_file_name(message))
    if quote and "Quote" in manifest.components.send:
        builder.component({"type": "Quote", "id": quote}, "")
    if mention and "At" in manifest.components.send:
        builder.component({"type": "At", "target": mention}, "")
        builder.text(" ")
    reasoning = message.get("reasoning")
    if reasoning and policy.thinking == "shown":
        builder.text(_quote_reasoning(str(reasoning)))
    content = message.get("content") or ""
    if isinstance(content, str):
        builder.message_text(_visible_text(content, policy))
        builder.text(source_list(message))
    else:
        builder.elements(content)
    builder.text(footer)
    for reference in message.get("artifact_refs") or ():
        builder.media(reference)
    parts = builder.parts()
    if policy.forward_over and "Forward" in manifest.components.send and _length(message) > policy.forward_over:
        return _merge(parts, bool(mention))
    return parts


def is_text(chain: Iterable[Mapping[str, Any]]) -> bool:
    """Returns whether a message that was shown as text can be edited into this chain."""
    return all(component["type"] in _TEXTUAL for component in chain)


def strip_reasoning(text: str, is_partial: bool = False) -> str:
    """Returns the text without the reasoning that some models write at its beginning, in a `<think>` block. It is empty
    while the block is open or, for a partial text (`is_partial`), could still begin.
    """
    head = text.lstrip()
    if not head.startswith(_THINK_START):
        return "" if is_partial and _THINK_START.startswith(head) else text
    _, end_tag, answer = head.partition(_THINK_END)
    return answer.lstrip() if end_tag else ""


def _visible_text(text: str, policy: DeliveryPolicy) -> str:
    return strip_reasoning(text) if policy.thinking == "hidden" else text


class _PartBuilder:
    """Collects text and components, and closes a part when it is full."""

    def __init__(
        self, manifest: AdapterManifest, policy: DeliveryPolicy, combinable_types: frozenset[str], full_text_file: str
    ) -> None:
        self._manifest = manifest
        self._policy = policy
        self._combinable_types = combinable_types
        self._full_text_file = full_text_file
        """The name of the file with the full text, until the preview of the text has been added."""
        self._dialect = TextFormatter(manifest, policy.max_message_size, policy.mention_everyone)
        self._pending_text = ""
        """Text since the last component."""
        self._chain: Chain = []
        self._texts: list[str] = []
        self._remaining_size = self._dialect.limit
        self._parts: list[MessagePart] = []

    def text(self, text: str) -> None:
        self._pending_text += text

    def message_text(self, text: str) -> None:
        """Adds text of the message itself, shortened to a preview if a file has all of it."""
        file_name, self._full_text_file = self._full_text_file, ""
        self.text(_preview_text(text, file_name, self._dialect) if file_name else text)

    def elements(self, elements: Iterable[Mapping[str, Any]]) -> None:
        for element in elements:
            match element["type"]:
                case "text":
                    self.message_text(
                        _visible_text(element["text"], self._policy) if not self._has_content else element["text"]
                    )
                case "json":
                    separator = "\n" if self._has_content else ""
                    self.text(f"{separator}```json\n{dumps(element.get('value'))}\n```\n")
                case "quote":
                    self.text(_blockquote(element))
                case "mention":
                    self._mention(element)
                case _:
                    self.media(element)

    @property
    def _has_content(self) -> bool:
        """True if there is content so far; a quoted message and a mention do not count."""
        has_text = self._pending_text.strip() or self._parts
        return bool(has_text) or any(each["type"] not in ("Quote", "At") for each in self._chain)

    def media(self, element: Mapping[str, Any]) -> None:
        component = media_component(element, self._manifest)
        if component is None:
            self.text(media_fallback_text(element, self._manifest, has_text=self._has_content))
        else:
            self.component(component, "")

    def _mention(self, element: Mapping[str, Any]) -> None:
        name = f"@{element.get('name') or element['user_id']}"
        if element.get("everyone"):
            if self._policy.mention_everyone and "AtAll" in self._manifest.components.send:
                self.component({"type": "AtAll"}, "")
            else:
                self.text("@everyone")  # the formatter defuses it where the platform would notify everyone
        elif "At" in self._manifest.components.send and self._dialect.size(name) <= self._dialect.limit:
            self.component({"type": "At", "target": element["user_id"], "display": element.get("name")}, name)
        else:
            self.text(name)

    def component(self, component: dict[str, Any], text: str) -> None:
        """Adds a component. `text` is how it appears in the text of the part."""
        self._flush_text()
        is_separate, size = component["type"] not in self._combinable_types, self._dialect.size(text)
        if is_separate or size > self._remaining_size:
            self._finish_part()
        self._chain.append(component)
        self._texts.append(text)
        self._remaining_size -= size
        if is_separate:
            self._finish_part()

    def parts(self) -> list[MessagePart]:
        self._flush_text()
        self._finish_part()
        return self._parts

    def _flush_text(self) -> None:
        text, self._pending_text = self._pending_text, ""
        if not text:
            return
        dialect = self._dialect
        if (
            self._chain
            and dialect.measure(text) > self._remaining_size
            and any(each["type"] != "Quote" for each in self._chain)
        ):
            self._finish_part()
        first, *other_pieces = dialect.split_text(text)
        self._add(first.text, dialect.format_text(first.shown_text))
        for piece in other_pieces:
            self._finish_part()
            self._add(piece.text, dialect.format_text(piece.shown_text))

    def _add(self, text: str, formatted: str) -> None:
        self._texts.append(text)
        self._chain.append({"type": "Plain", "text": formatted})
        self._remaining_size -= self._dialect.size(formatted)

    def _finish_part(self) -> None:
        chain, text = self._chain, "".join(self._texts)
        self._chain, self._texts, self._remaining_size = [], [], self._dialect.limit
        if any(each["type"] != "Quote" and each.get("text", "-").strip() for each in chain):
            self._parts.append(MessagePart(text, chain))


def _length(message: Mapping[str, Any]) -> int:
    content = message.get("content") or ""
    texts = [content] if isinstance(content, str) else [each.get("text", "") for each in content]
    return sum(len(split_graphemes(each)) for each in texts)


def _merge(parts: Sequence[MessagePart], has_mention: bool) -> list[MessagePart]:
    """Merges messages with text into one forward, after the mention of the sender. Files are sent behind it."""
    mixed = [each for each in parts if all(component["type"] in _MIXED for component in each.chain)]
    others = [each for each in parts if each not in mixed]
    nodes = [{"chain": [each for each in part.chain if each["type"] not in ("Quote", "At", "AtAll")]} for part in mixed]
    mention = [each for part in mixed[:1] for each in part.chain[:2] if each["type"] in ("Quote", "At")]
    first = [MessagePart("", mention)] if has_mention and mention else []
    whole = MessagePart("".join(each.text for each in mixed), [{"type": "Forward", "nodes": nodes}])
    return [*first, whole, *others] if nodes else list(parts)


def _blockquote(element: Mapping[str, Any]) -> str:
    inner = "".join(each.get("text", "") for each in element.get("contents") or ())
    return "".join(f"> {line}\n" for line in inner.splitlines())


def _quote_reasoning(reasoning: str) -> str:
    """Formats reasoning as a Markdown quote."""
    lines = reasoning.strip().splitlines()
    return "".join(f"> {line}\n" for line in lines) + "\n"


def _full_text_file_name(message: Mapping[str, Any]) -> str:
    """Returns the name of the file with the full text; empty if there is none. It must be attached to the message."""
    full_text_id = (message.get("metadata") or {}).get(FULL_TEXT_KEY)
    refs = message.get("artifact_refs") or ()
    return next(
        (str(ref.get("name") or "a file") for ref in refs if full_text_id and ref["artifact_id"] == full_text_id), ""
    )


def _preview_text(text: str, file_name: str, dialect: TextFormatter) -> str:
    """Returns as much of the text as fits into one message together with the note. If there is too little room for
    both, they take two or three messages.
    """
    note = f"[This is only the beginning. All of it is in {file_name}.]"
    available = dialect.limit - dialect.measure(note) - len(_BETWEEN)
    first = dialect.first_piece(text, max(available, dialect.limit // 2)).rstrip()
    return f"{first}{_BETWEEN}{note}" if first else note
