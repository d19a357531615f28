"""Checks messages as WhatsApp does: kinds, fields, lengths, and files that were uploaded."""

from typing import Any
from urllib.parse import urlsplit

from .world import Json, WhatsAppRefusal, WhatsAppWorld

MEBIBYTE = 1024 * 1024
ENVELOPE = {"messaging_product", "recipient_type", "to", "recipient", "type", "context", "biz_opaque_callback_data"}
FIELDS: dict[str, tuple[set[str], set[str]]] = {
    "text": ({"body"}, {"preview_url"}),
    "image": (set(), {"id", "link", "caption"}),
    "video": (set(), {"id", "link", "caption"}),
    "audio": (set(), {"id", "link", "voice"}),
    "document": (set(), {"id", "link", "caption", "filename"}),
    "sticker": (set(), {"id", "link"}),
    "location": ({"latitude", "longitude"}, {"name", "address"}),
    "reaction": ({"message_id", "emoji"}, set()),
    "interactive": ({"type", "body", "action"}, {"header", "footer"}),
    "template": ({"name", "language"}, {"components"}),
}
"""Required and further fields of each kind of message; a list of contacts has its own form."""
MEDIA_TYPES: dict[str, tuple[set[str], int]] = {
    "image": ({"image/jpeg", "image/png"}, 5 * MEBIBYTE),
    "video": ({"video/mp4", "video/3gpp"}, 16 * MEBIBYTE),
    "audio": ({"audio/aac", "audio/mp4", "audio/mpeg", "audio/amr", "audio/ogg"}, 16 * MEBIBYTE),
    "sticker": ({"image/webp"}, MEBIBYTE // 2),
    "document": (set(), 100 * MEBIBYTE),
}


def check_message(body: Any, world: WhatsAppWorld) -> Json:
    """Returns a message if WhatsApp would accept it. Raises WhatsAppRefusal."""
    if not isinstance(body, dict):
        raise invalid("body", "must be an object")
    if body.get("messaging_product") != "whatsapp":
        raise WhatsAppRefusal(100, "The parameter messaging_product is required.")
    kind = body.get("type", "text")
    if kind != "contacts" and kind not in FIELDS:
        raise WhatsAppRefusal(100, "Invalid parameter", f"type must be one of {sorted((*FIELDS, 'contacts'))}")
    for name in sorted(set(body) - ENVELOPE - {kind}):
        raise WhatsAppRefusal(100, "Invalid parameter", f'Unexpected key "{name}" on param "body"')
    if len(body.get("biz_opaque_callback_data", "")) > 512:
        raise invalid("biz_opaque_callback_data", "must have at most 512 characters")
    if "context" in body and not world.is_known_message(body["context"].get("message_id", "")):
        raise invalid("context.message_id", "is not a message of this chat")
    if kind not in body:
        raise WhatsAppRefusal(131008, "Required parameter is missing", f"Parameter {kind} is mandatory")
    content = body[kind]
    if kind == "contacts":
        _check_contacts(content)
        return {**body, "type": kind}
    if not isinstance(content, dict):
        raise invalid(kind, "must be an object")
    required, optional = FIELDS[kind]
    for name in sorted(required - set(content)):
        raise WhatsAppRefusal(131008, "Required parameter is missing", f"{kind}.{name} is required")
    for name in sorted(set(content) - required - optional):
        raise WhatsAppRefusal(100, "Invalid parameter", f'Unexpected key "{name}" on param "{kind}"')
    _check_content(kind, content, world)
    return {**body, "type": kind}


def _check_content(kind: str, content: Json, world: WhatsAppWorld) -> None:
    match kind:
        case "text":
            _check_text(content["body"], "text.body", 4096)
        case "location":
            if not all(isinstance(content[name], int | float) for name in ("latitude", "longitude")):
                raise invalid("location", "latitude and longitude must be numbers")
        case "reaction":
            if not world.is_known_message(content["message_id"]):
                raise invalid("reaction.message_id", "is not a message of this chat")
        case "interactive":
            _check_interactive(content)
        case "template":
            named = (content["name"], content["language"].get("code", ""))
            if named not in world.templates:
                raise WhatsAppRefusal(
                    132001, "Template name does not exist in the translation", f"template name {named}", 404
                )
        case _:
            _check_media(kind, content, world)


def _check_media(kind: str, content: Json, world: WhatsAppWorld) -> None:
    if ("id" in content) == ("link" in content):
        raise WhatsAppRefusal(131008, "Required parameter is missing", f"one of {kind}.id and {kind}.link is required")
    if "link" in content:
        if urlsplit(str(content["link"])).scheme not in ("http", "https"):
            raise invalid(f"{kind}.link", "must be an address")
        return
    media = world.media.get(content["id"])
    if media is None:
        raise invalid(f"{kind}.id", "is not the id of an uploaded file")
    types, max_bytes = MEDIA_TYPES[kind]
    if types and media.mime_type.partition(";")[0] not in types:
        raise WhatsAppRefusal(131053, "Media upload error", f"{media.mime_type} is not supported for {kind}")
    if len(media.content) > max_bytes:
        raise WhatsAppRefusal(131053, "Media upload error", f"the file is too large for {kind}")


def _check_contacts(contacts: Any) -> None:
    if not isinstance(contacts, list) or not contacts:
        raise invalid("contacts", "must be a list of contacts")
    for each in contacts:
        if not each.get("name", {}).get("formatted_name"):
            raise WhatsAppRefusal(131008, "Required parameter is missing", "contacts.name.formatted_name is required")


def _check_interactive(content: Json) -> None:
    _check_text(content["body"].get("text"), "interactive.body.text", 1024)
    action = content["action"]
    match content["type"]:
        case "button":
            buttons = action.get("buttons", [])
            if not 1 <= len(buttons) <= 3:
                raise invalid("interactive.action.buttons", "must have 1 to 3 items")
            choices = [each.get("reply", {}) for each in buttons]
            titles = {each.get("title") for each in choices}
            if len(titles) != len(choices):
                raise invalid("interactive.action.buttons", "must have different titles")
            _check_choices(choices, 20, 256)
        case "list":
            _check_text(action.get("button"), "interactive.action.button", 20)
            rows = [row for section in action.get("sections", []) for row in section.get("rows", [])]
            if not 1 <= len(rows) <= 10:
                raise invalid("interactive.action.sections", "must have 1 to 10 rows")
            _check_choices(rows, 24, 200)
        case "cta_url":
            parameters = action.get("parameters", {})
            _check_text(parameters.get("display_text"), "display_text", 20)
            if urlsplit(str(parameters.get("url", ""))).scheme not in ("http", "https"):
                raise invalid("url", "must be an address")
        case kind:
            raise invalid("interactive.type", f"{kind} is not known")


def _check_choices(choices: list[Json], title: int, data: int) -> None:
    for each in choices:
        _check_text(each.get("title"), "title", title)
        _check_text(each.get("id"), "id", data)
    if len({each["id"] for each in choices}) != len(choices):
        raise invalid("id", "must be different in each choice")


def _check_text(value: Any, name: str, limit: int) -> None:
    if not isinstance(value, str) or not value.strip():
        raise WhatsAppRefusal(131008, "Required parameter is missing", f"{name} is required")
    if len(value) > limit:
        raise WhatsAppRefusal(100, "Invalid parameter", f"Param {name} must be at most {limit} characters long.")


def invalid(name: str, problem: str) -> WhatsAppRefusal:
    return WhatsAppRefusal(131009, "Parameter value is not valid", f"{name} {problem}")
