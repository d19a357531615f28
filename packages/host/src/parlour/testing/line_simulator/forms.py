"""Checks messages as LINE does: kinds, fields, lengths, addresses, and what may be mentioned or quoted."""

import re
from typing import Any
from urllib.parse import urlsplit

from .world import Json, LineChat, LineRefusal, LineWorld

ID = re.compile(r"[UCR][0-9a-f]{32}")
RETRY_KEY = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
MAX_MESSAGES, MAX_TEXT, MAX_ALT_TEXT, MAX_URL, MAX_SUBSTITUTIONS = 5, 5000, 1500, 2000, 100
FIELDS: dict[str, tuple[set[str], set[str]]] = {
    "text": ({"text"}, {"quoteToken", "emojis"}),
    "textV2": ({"text"}, {"substitution", "quoteToken"}),
    "sticker": ({"packageId", "stickerId"}, {"quoteToken"}),
    "image": ({"originalContentUrl", "previewImageUrl"}, set()),
    "video": ({"originalContentUrl", "previewImageUrl"}, {"trackingId"}),
    "audio": ({"originalContentUrl", "duration"}, set()),
    "location": ({"title", "address", "latitude", "longitude"}, set()),
    "flex": ({"altText", "contents"}, set()),
}
"""Required and further fields of each kind of message."""
COMMON = {"type", "quickReply", "sender"}
_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


def check_body(body: Any, required: set[str], optional: set[str]) -> Json:
    if not isinstance(body, dict):
        raise LineRefusal(400, "The request body could not be parsed as JSON.")
    for name in sorted(required - set(body)):
        raise invalid((name, "May not be empty"))
    for name in sorted(set(body) - required - optional):
        raise invalid((name, "Unknown field"))
    return body


def check_messages(messages: Any, world: LineWorld, chat: LineChat) -> list[Json]:
    """Returns the messages if LINE would accept them. Raises LineRefusal."""
    if not isinstance(messages, list) or not 1 <= len(messages) <= MAX_MESSAGES:
        raise invalid(("messages", f"Size must be between 1 and {MAX_MESSAGES}"))
    for place, message in enumerate(messages):
        _check_message(message, f"messages[{place}]", world, chat)
    return messages


def _check_message(message: Any, path: str, world: LineWorld, chat: LineChat) -> None:
    kind = message.get("type") if isinstance(message, dict) else None
    if kind not in FIELDS:
        raise invalid((f"{path}.type", "Must be one of the following values: [text, textV2, sticker, ...]"))
    required, optional = FIELDS[kind]
    for name in sorted(required - set(message)):
        raise invalid((f"{path}.{name}", "May not be empty"))
    for name in sorted(set(message) - required - optional - COMMON):
        raise invalid((f"{path}.{name}", "Unknown field"))
    _check_quote(message, path, world)
    match kind:
        case "text":
            _check_length(message["text"], f"{path}.text", MAX_TEXT)
        case "textV2":
            _check_length(message["text"], f"{path}.text", MAX_TEXT)
            _check_substitution(message, path, chat)
        case "image" | "video" | "audio":
            for name in ("originalContentUrl", "previewImageUrl"):
                if name in message:
                    _check_url(message[name], f"{path}.{name}")
            if kind == "audio" and (not isinstance(message["duration"], int) or message["duration"] <= 0):
                raise invalid((f"{path}.duration", "Must be greater than 0"))
        case "location":
            for name in ("title", "address"):
                _check_length(message[name], f"{path}.{name}", 100)
        case "flex":
            _check_length(message["altText"], f"{path}.altText", MAX_ALT_TEXT)
            _check_flex(message["contents"], f"{path}.contents")


def _check_quote(message: Json, path: str, world: LineWorld) -> None:
    if "quoteToken" in message and message["quoteToken"] not in world.quote_tokens:
        raise invalid((f"{path}.quoteToken", "Invalid quote token"))


def _check_length(value: Any, path: str, limit: int) -> None:
    if not isinstance(value, str) or not value.strip():
        raise invalid((path, "May not be empty"))
    if len(value.encode("utf-16-le")) // 2 > limit:
        raise invalid((path, f"Length must be between 0 and {limit}"))


def _check_url(value: Any, path: str) -> None:
    if not isinstance(value, str) or len(value) > MAX_URL or urlsplit(value).scheme != "https":
        raise invalid((path, "Must be a valid HTTPS URL"))


def _check_substitution(message: Json, path: str, chat: LineChat) -> None:
    substitution = message.get("substitution", {})
    if len(substitution) > MAX_SUBSTITUTIONS:
        raise invalid((f"{path}.substitution", f"Size must be between 0 and {MAX_SUBSTITUTIONS}"))
    used = set()
    for match in _PLACEHOLDER.finditer(message["text"]):
        if match[0] in ("{", "}"):
            raise invalid((f"{path}.text", "A brace must be doubled"))
        if match[1] is not None:
            used.add(match[1])
    if used != set(substitution):
        raise invalid((f"{path}.substitution", "Does not match the placeholders of the text"))
    for name, value in substitution.items():
        mentionee = value.get("mentionee", {})
        if value.get("type") == "mention":
            if chat.kind == "user":
                raise invalid((f"{path}.substitution.{name}", "Mentions exist in groups and rooms only"))
            if mentionee.get("type") == "user" and mentionee.get("userId") not in chat.members:
                raise invalid((f"{path}.substitution.{name}", "The mentioned user is not in the chat"))
        elif value.get("type") != "emoji" or not value.get("productId") or not value.get("emojiId"):
            raise invalid((f"{path}.substitution.{name}", "Must be a mention or an emoji"))


def _check_flex(contents: Any, path: str) -> None:
    if not isinstance(contents, dict) or contents.get("type") not in ("bubble", "carousel"):
        raise invalid((f"{path}.type", "Must be one of the following values: [bubble, carousel]"))
    for name in ("header", "body", "footer"):
        for place, each in enumerate(contents.get(name, {}).get("contents", ())):
            where = f"{path}.{name}.contents[{place}]"
            match each.get("type"):
                case "text":
                    _check_length(each.get("text"), f"{where}.text", 2000)
                case "button":
                    _check_action(each.get("action") or {}, f"{where}.action")
                case "box" | "image" | "separator" | "filler":
                    pass
                case _:
                    raise invalid((f"{where}.type", "unknown component"))


def _check_action(action: Json, path: str) -> None:
    _check_length(action.get("label"), f"{path}.label", 20)
    match action.get("type"):
        case "postback":
            _check_length(action.get("data"), f"{path}.data", 300)
        case "uri":
            _check_length(action.get("uri"), f"{path}.uri", 1000)
        case "message":
            _check_length(action.get("text"), f"{path}.text", 300)
        case _:
            raise invalid((f"{path}.type", "unknown action"))


def invalid(*details: tuple[str, str]) -> LineRefusal:
    return LineRefusal(400, f"The request body has {len(details)} error(s)", *details)
