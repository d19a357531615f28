"""Implements the methods of the Bot API that write: messages, files, edits, drafts, reactions.
`chat_methods` has those about chats.
"""

from collections.abc import Callable
from typing import Any

from . import chat_methods
from .failures import Failed
from .native import Payload
from .requests import Call
from .texts import formatted
from .world import LARGEST_UPLOAD, Chat, World

NOT_MODIFIED = (
    "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a "
    "current content and reply markup of the message"
)
LARGEST_PHOTO = 10 * 1024 * 1024
MEDIA = ("photo", "video", "animation", "document", "audio", "voice", "sticker")
COUNTED = frozenset(
    (
        "sendMessage", "sendPhoto", "sendVideo", "sendAnimation", "sendDocument", "sendAudio", "sendVoice",
        "sendSticker", "sendMediaGroup", "sendDice", "sendLocation", "sendContact", "sendVenue", "sendPoll",
        "forwardMessage", "editMessageText", "editMessageCaption",
    )
)  # fmt: skip
"""Methods that count against the rate limits."""
Method = Callable[[World, Call], Any]


def perform(world: World, call: Call) -> Any:
    """Returns the result of a call. Raises Failed."""
    method = _METHODS.get(call.method) or chat_methods.METHODS.get(call.method)
    if method is None or (call.method == "sendMessageDraft" and not world.has_drafts):
        raise Failed(404, "Not Found: method not found")
    return method(world, call)


def _target(world: World, call: Call) -> tuple[Chat, Payload]:
    """Returns the chat and the fields that every message there may have."""
    params = call.params
    if "chat_id" not in params:
        raise Failed(400, "Bad Request: chat_id is empty")
    chat = world.chat(params["chat_id"], writing=True)
    common: Payload = {}
    topic = params.get("message_thread_id")
    if topic:
        if topic not in chat.topics:
            raise Failed(400, "Bad Request: message thread not found")
        common |= {"message_thread_id": topic, "is_topic_message": True}
    reply_parameters = params.get("reply_parameters") or {}
    if reply_parameters:
        replied = chat.messages.get(int(reply_parameters.get("message_id") or 0))
        if replied is None and not reply_parameters.get("allow_sending_without_reply"):
            raise Failed(400, "Bad Request: message to be replied not found")
        common |= {"reply_to_message": replied} if replied else {}
    if params.get("reply_markup"):
        common["reply_markup"] = _markup(params["reply_markup"])
    return chat, common


def _markup(markup: Payload) -> Payload:
    for button in [button for row in markup.get("inline_keyboard") or [] for button in row]:
        if not button.get("text"):
            raise Failed(400, "Bad Request: text buttons are unallowed in the inline keyboard")
        if len(str(button.get("callback_data", "x")).encode()) not in range(1, 65):
            raise Failed(400, "Bad Request: BUTTON_DATA_INVALID")
    return markup


def _send_message(world: World, call: Call) -> Payload:
    chat, common = _target(world, call)
    text, entities = formatted(call.params)
    if not text:
        raise Failed(400, "Bad Request: message text is empty")
    return world.show(chat, {**common, "text": text, **({"entities": entities} if entities else {})})


def _send_media(kind: str) -> Method:
    def send(world: World, call: Call) -> Payload:
        chat, common = _target(world, call)
        return world.show(chat, {**common, **_medium(world, call, kind, call.params), **_caption(call.params)})

    return send


def _caption(params: Payload) -> Payload:
    caption, entities = formatted(params, "caption")
    if not caption:
        return {}
    position_fields = {"show_caption_above_media": True} if params.get("show_caption_above_media") else {}
    return {"caption": caption, **({"caption_entities": entities} if entities else {}), **position_fields}


def _medium(world: World, call: Call, kind: str, params: Payload, name: str = "") -> Payload:
    filename, data = _bytes(world, call, params.get(name or kind), name or kind)
    if len(data) > LARGEST_UPLOAD:
        raise Failed(413, "Request Entity Too Large")
    if kind == "photo" and len(data) > LARGEST_PHOTO:
        raise Failed(400, "Bad Request: file is too big for a photo")
    source = params.get(name or kind)
    file_id = source if source in world.files else world.add_file(data, filename)
    file_fields: Payload = {"file_id": file_id, "file_unique_id": f"unique-{file_id}", "file_size": len(data)}
    if kind == "photo":
        return {kind: [{**file_fields, "width": 100, "height": 100}]}
    if kind in ("video", "animation"):
        file_fields |= {"width": 100, "height": 100, "duration": int(params.get("duration") or 0)}
    if kind in ("voice", "audio"):
        file_fields |= {"duration": int(params.get("duration") or 0)}
    if kind == "sticker":
        file_fields |= {"width": 512, "height": 512, "type": "regular", "is_animated": False, "is_video": False}
    return {kind: {**file_fields, **({"file_name": filename} if kind in ("document", "video", "audio") else {})}}


def _bytes(world: World, call: Call, source: Any, name: str) -> tuple[str, bytes]:
    if name in call.uploads:
        return call.uploads[name]
    if isinstance(source, str) and source.removeprefix("attach://") in call.uploads:
        return call.uploads[source.removeprefix("attach://")]
    if isinstance(source, str) and source.startswith(("http://", "https://")):
        if source not in world.web:
            raise Failed(400, "Bad Request: failed to get HTTP URL content")
        return source.rpartition("/")[2], world.web[source]
    existing = world.files.get(source) if isinstance(source, str) else None
    if existing is None:
        raise Failed(400, "Bad Request: wrong file identifier/HTTP URL specified")
    return existing.path.rpartition("_")[2], existing.data


def _send_media_group(world: World, call: Call) -> list[Payload]:
    chat, common = _target(world, call)
    media = call.params.get("media") or []
    if not 2 <= len(media) <= 10:
        raise Failed(400, "Bad Request: there must be 2-10 items in the album")
    families = {"visual" if each["type"] in ("photo", "video") else each["type"] for each in media}
    if len(families) > 1:
        raise Failed(400, "Bad Request: media of these types can't be in one album")
    album = {"media_group_id": f"album-{world.number()}"}
    contents = [{**_medium(world, call, each["type"], each, "media"), **_caption(each)} for each in media]
    return [world.show(chat, {**common, **album, **content}) for content in contents]


def _send_own(kind: str, *names: str) -> Method:
    def send(world: World, call: Call) -> Payload:
        chat, common = _target(world, call)
        missing = next((name for name in names if name not in call.params), "")
        if missing:
            raise Failed(400, f"Bad Request: {missing} is empty")
        data = {name: call.params[name] for name in names}
        if kind == "dice":
            data = {"emoji": call.params.get("emoji") or "🎲", "value": 4}
        return world.show(chat, {**common, kind: data})

    return send


def _draft(world: World, call: Call) -> bool:
    params = call.params
    chat = world.chat(params.get("chat_id"), writing=True) if params.get("chat_id") else None
    if chat is None:
        raise Failed(400, "Bad Request: chat_id is empty")
    if chat.about["type"] != "private":
        raise Failed(400, "Bad Request: drafts are shown in private chats only")
    if not params.get("draft_id"):
        raise Failed(400, "Bad Request: draft_id must be non-zero")
    text, entities = formatted(params)
    world.drafts.append({"chat_id": chat.id, "draft_id": params["draft_id"], "text": text, "entities": entities})
    return True


def _edit_text(world: World, call: Call) -> Payload:
    return _edited(world, call, "text")


def _edit_caption(world: World, call: Call) -> Payload:
    return _edited(world, call, "caption")


def _edited(world: World, call: Call, name: str) -> Payload:
    chat = world.chat(call.params.get("chat_id"), writing=True)
    message = world.message(chat, call.params.get("message_id"), "edit")
    if message["from"]["id"] != world.bot_id:
        raise Failed(400, "Bad Request: message can't be edited")
    if name == "text" and "text" not in message:
        raise Failed(400, "Bad Request: there is no text in the message to edit")
    text, entities = formatted(call.params, name)
    if name == "text" and not text:
        raise Failed(400, "Bad Request: message text is empty")
    markup = _markup(call.params.get("reply_markup") or {})
    changed: Payload = {name: text, "entities" if name == "text" else "caption_entities": entities}
    changed["reply_markup"] = markup if markup.get("inline_keyboard") else None
    if all((message.get(field) or None) == (value or None) for field, value in changed.items()):
        raise Failed(400, NOT_MODIFIED)
    message.update({field: value for field, value in changed.items() if value})
    for field in [field for field, value in changed.items() if not value]:
        message.pop(field, None)
    world.shown(chat.id, message["message_id"]).versions.append(text)
    return message


def _forward(world: World, call: Call) -> Payload:
    chat, common = _target(world, call)
    source = world.chat(call.params.get("from_chat_id"))
    message = world.message(source, call.params.get("message_id"), "forward")
    content = {name: value for name, value in message.items() if name in (*MEDIA, "text", "entities", "caption")}
    origin = {"type": "user", "date": message["date"], "sender_user": message["from"]}
    return world.show(chat, {**common, **content, "forward_origin": origin})


def _delete(world: World, call: Call) -> bool:
    chat = world.chat(call.params.get("chat_id"))
    message = world.message(chat, call.params.get("message_id"), "delete")
    del chat.messages[message["message_id"]]
    if message["from"]["id"] == world.bot_id:
        world.shown(chat.id, message["message_id"]).deleted = True
    return True


def _react(world: World, call: Call) -> bool:
    chat = world.chat(call.params.get("chat_id"))
    message = world.message(chat, call.params.get("message_id"), "react to")
    reactions = call.params.get("reaction") or []
    if len(reactions) > 1:
        raise Failed(400, "Bad Request: REACTIONS_TOO_MANY")
    world.reactions[chat.id, message["message_id"]] = reactions
    return True


_METHODS: dict[str, Method] = {
    "sendMessage": _send_message,
    "sendPhoto": _send_media("photo"),
    "sendVideo": _send_media("video"),
    "sendAnimation": _send_media("animation"),
    "sendDocument": _send_media("document"),
    "sendAudio": _send_media("audio"),
    "sendVoice": _send_media("voice"),
    "sendSticker": _send_media("sticker"),
    "sendMediaGroup": _send_media_group,
    "sendDice": _send_own("dice"),
    "sendLocation": _send_own("location", "latitude", "longitude"),
    "sendVenue": _send_own("venue", "latitude", "longitude", "title", "address"),
    "sendContact": _send_own("contact", "phone_number", "first_name"),
    "sendPoll": _send_own("poll", "question", "options"),
    "sendMessageDraft": _draft,
    "editMessageText": _edit_text,
    "editMessageCaption": _edit_caption,
    "forwardMessage": _forward,
    "deleteMessage": _delete,
    "setMessageReaction": _react,
}
