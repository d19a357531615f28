"""Checks the bodies of message calls as strictly as Discord does, with its own error codes."""

from collections.abc import Mapping
from typing import Any

from .world import DiscordRefusal, Json, invalid

MAX_CONTENT, MAX_NONCE, MAX_EMBEDS, MAX_EMBED_TEXT, MAX_FILES, MAX_STICKERS = 2000, 25, 10, 6000, 10, 3
MAX_FILE_BYTES = 10 * 1024 * 1024
MAX_ROWS, MAX_BUTTONS, MAX_LABEL, MAX_CUSTOM_ID = 5, 5, 80, 100
CREATE_FIELDS = {
    "content", "nonce", "enforce_nonce", "tts", "embeds", "allowed_mentions", "message_reference", "components",
    "sticker_ids", "attachments", "flags", "poll",
}  # fmt: skip
EDIT_FIELDS = {"content", "embeds", "allowed_mentions", "components", "attachments", "flags"}
MENTION_KINDS = {"users", "roles", "everyone"}
LINK = 5


def check_message(body: Any, files: Mapping[str, Any], is_edit: bool = False) -> Json:
    """Returns the body of a message if Discord would accept it. Raises DiscordRefusal."""
    if not isinstance(body, dict):
        raise DiscordRefusal(400, 50109, "The request body contains invalid JSON.")
    for name in body:
        if name not in (EDIT_FIELDS if is_edit else CREATE_FIELDS):
            raise invalid(name, "UNKNOWN_FIELD", "Unknown field")
    _check_content(body)
    nonce = body.get("nonce")
    if nonce is not None and len(str(nonce)) > MAX_NONCE:
        raise invalid("nonce", "NONCE_TYPE_TOO_LONG", f"Must be {MAX_NONCE} or fewer in length.")
    _check_embeds(body.get("embeds"))
    _check_mentions(body.get("allowed_mentions"))
    _check_components(body.get("components"))
    _check_files(body.get("attachments") or [], files)
    stickers = body.get("sticker_ids") or []
    if not isinstance(stickers, list) or len(stickers) > MAX_STICKERS:
        raise invalid("sticker_ids", "BASE_TYPE_MAX_LENGTH", f"Must be {MAX_STICKERS} or fewer in length.")
    is_forward = (body.get("message_reference") or {}).get("type") == 1
    shown = (body.get("content"), body.get("embeds"), stickers, files, body.get("poll"), is_forward)
    if not is_edit and not any(shown):
        raise DiscordRefusal(400, 50006, "Cannot send an empty message")
    return body


def _check_content(body: Json) -> None:
    content = body.get("content")
    if content is not None and not isinstance(content, str):
        raise invalid("content", "STRING_TYPE_CONVERT", "Could not interpret as string.")
    if content is not None and len(content) > MAX_CONTENT:
        raise invalid("content", "BASE_TYPE_MAX_LENGTH", f"Must be {MAX_CONTENT} or fewer in length.")


def _check_embeds(embeds: Any) -> None:
    if embeds is None:
        return
    if not isinstance(embeds, list) or len(embeds) > MAX_EMBEDS:
        raise invalid("embeds", "BASE_TYPE_MAX_LENGTH", f"Must be {MAX_EMBEDS} or fewer in length.")
    size = sum(len(str(each.get(name) or "")) for each in embeds for name in ("title", "description"))
    if size > MAX_EMBED_TEXT:
        raise invalid("embeds", "MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of 6000")


def _check_mentions(allowed: Any) -> None:
    if allowed is None:
        return
    kinds = set(allowed.get("parse") or ())
    if not kinds <= MENTION_KINDS:
        raise invalid("allowed_mentions.parse", "BASE_TYPE_CHOICES", f"Value must be one of {MENTION_KINDS}.")
    if any(kind in kinds and allowed.get(kind) for kind in ("users", "roles")):
        raise invalid("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", "Mutually exclusive with parse")
    if len(allowed.get("users") or ()) > 100:
        raise invalid("allowed_mentions.users", "BASE_TYPE_MAX_LENGTH", "Must be 100 or fewer in length.")


def _check_components(rows: Any) -> None:
    if rows is None:
        return
    if not isinstance(rows, list) or len(rows) > MAX_ROWS:
        raise invalid("components", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {MAX_ROWS} in length.")
    seen: set[str] = set()
    for place, row in enumerate(rows):
        buttons = row.get("components") if isinstance(row, dict) and row.get("type") == 1 else None
        if not isinstance(buttons, list) or not 1 <= len(buttons) <= MAX_BUTTONS:
            raise invalid(
                f"components.{place}.components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length."
            )
        for number, button in enumerate(buttons):
            _check_button(button, f"components.{place}.components.{number}", seen)


def _check_button(button: Json, path: str, seen: set[str]) -> None:
    if button.get("type") != 2 or button.get("style") not in range(1, 7):
        raise invalid(f"{path}.style", "BASE_TYPE_CHOICES", "Value must be one of (1, 2, 3, 4, 5, 6).")
    if len(button.get("label") or "") > MAX_LABEL:
        raise invalid(f"{path}.label", "BASE_TYPE_MAX_LENGTH", f"Must be {MAX_LABEL} or fewer in length.")
    if button["style"] == LINK:
        if not str(button.get("url") or "").startswith(("http://", "https://", "discord://")):
            raise invalid(f"{path}.url", "URL_TYPE_INVALID_SCHEME", "Not a well formed URL.")
        return
    custom_id = button.get("custom_id")
    if not isinstance(custom_id, str) or not 1 <= len(custom_id) <= MAX_CUSTOM_ID:
        raise invalid(f"{path}.custom_id", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {MAX_CUSTOM_ID} in length.")
    if custom_id in seen:
        raise invalid(f"{path}.custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
    seen.add(custom_id)


def _check_files(attachments: Any, files: Mapping[str, Any]) -> None:
    if len(files) > MAX_FILES:
        raise DiscordRefusal(400, 40005, "Request entity too large")
    for name, (_, data, _) in files.items():
        if not name.startswith("files[") and name != "file":
            raise invalid(name, "UNKNOWN_FIELD", "Unknown field")
        if len(data) > MAX_FILE_BYTES:
            raise DiscordRefusal(413, 40005, "Request entity too large")
    declared = {f"files[{each.get('id')}]" for each in attachments if "filename" in each}
    if attachments and not declared <= set(files):
        raise invalid("attachments.0.id", "ATTACHMENT_NOT_FOUND", "An attachment was not found")
