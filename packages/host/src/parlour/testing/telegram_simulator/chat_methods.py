"""Implements the methods of the Bot API about chats, members, pins, files and pressed buttons."""

from collections.abc import Callable
from typing import Any

from . import native
from .failures import Failed
from .native import Payload
from .requests import Call
from .world import LARGEST_DOWNLOAD, Chat, World

Method = Callable[[World, Call], Any]


def _get_me(world: World, call: Call) -> Payload:
    rights = {"can_join_groups": True, "can_read_all_group_messages": True, "supports_inline_queries": False}
    return {**world.bot, **rights, "can_connect_to_business": False, "has_main_web_app": False}


def _get_file(world: World, call: Call) -> Payload:
    file_id = str(call.params.get("file_id"))
    file = world.files.get(file_id)
    if file is None:
        raise Failed(400, "Bad Request: wrong file_id or the file is temporarily unavailable")
    if file.size > LARGEST_DOWNLOAD:
        raise Failed(400, "Bad Request: file is too big")
    file_info = {"file_id": file_id, "file_unique_id": f"unique-{file_id}", "file_size": file.size}
    return {**file_info, "file_path": file.path}


def _get_chat(world: World, call: Call) -> Payload:
    chat = world.chat(call.params.get("chat_id"))
    return {**chat.about, "accent_color_id": 0, "max_reaction_count": 11, "accepted_gift_types": {}}


def _member_count(world: World, call: Call) -> int:
    chat = world.chat(call.params.get("chat_id"))
    return sum(each["status"] not in ("left", "kicked") for each in chat.members.values())


def _get_member(world: World, call: Call) -> Payload:
    chat = world.chat(call.params.get("chat_id"))
    user_id = call.params.get("user_id")
    user = world.people.get(user_id) if isinstance(user_id, int) else None
    if user_id not in chat.members and user is None:
        raise Failed(400, "Bad Request: user not found")
    return chat.members.get(int(user_id or 0)) or native.member(user or {}, "left")


def _administrators(world: World, call: Call) -> list[Payload]:
    chat = world.chat(call.params.get("chat_id"))
    if chat.about["type"] == "private":
        raise Failed(400, "Bad Request: there are no administrators in the private chat")
    return [each for each in chat.members.values() if each["status"] in ("administrator", "creator")]


def _leading(right: str, operation: Callable[[World, Chat, Payload], Any]) -> Method:
    """Methods that only administrators may use."""

    def method(world: World, call: Call) -> Any:
        chat = world.chat(call.params.get("chat_id"))
        world.check_leading(chat, right)
        result = operation(world, chat, call.params)
        return True if result is None else result

    return method


def _person(chat: Chat, params: Payload) -> Payload:
    member = chat.members.get(params.get("user_id", 0))
    if member is None:
        raise Failed(400, "Bad Request: user not found")
    if member["status"] == "creator":
        raise Failed(400, "Bad Request: can't remove chat owner")
    return member


def _ban(world: World, chat: Chat, params: Payload) -> None:
    _person(chat, params).update(status="kicked", until_date=params.get("until_date") or 0)


def _unban(world: World, chat: Chat, params: Payload) -> None:
    member = _person(chat, params)
    if member["status"] == "kicked" or not params.get("only_if_banned"):
        member["status"] = "left"


def _restrict(world: World, chat: Chat, params: Payload) -> None:
    member = _person(chat, params)
    allowed = bool((params.get("permissions") or {}).get("can_send_messages"))
    member.update(
        status="member" if allowed else "restricted",
        is_member=True,
        can_send_messages=allowed,
        until_date=params.get("until_date") or 0,
    )


def _title(world: World, chat: Chat, params: Payload) -> None:
    if not 1 <= len(str(params.get("title") or "")) <= 128:
        raise Failed(400, "Bad Request: the chat title must have 1-128 characters")
    chat.about["title"] = params["title"]


def _description(world: World, chat: Chat, params: Payload) -> None:
    chat.about["description"] = params.get("description") or ""


def _pin(world: World, chat: Chat, params: Payload) -> None:
    message = world.message(chat, params.get("message_id"), "pin")
    chat.pinned.append(message["message_id"])


def _unpin(world: World, chat: Chat, params: Payload) -> None:
    message_id = params.get("message_id") or (chat.pinned[-1] if chat.pinned else 0)
    if message_id not in chat.pinned:
        raise Failed(400, "Bad Request: message to unpin not found")
    chat.pinned.remove(message_id)


def _unpin_all(world: World, chat: Chat, params: Payload) -> None:
    chat.pinned.clear()


def _invite(world: World, chat: Chat, params: Payload) -> Payload:
    link = {"invite_link": f"https://t.me/+{world.number()}", "creator": world.bot, "is_primary": False}
    joins = bool(params.get("creates_join_request"))
    return {**link, "creates_join_request": joins, "is_revoked": False, "name": params.get("name") or ""}


def _leave(world: World, call: Call) -> bool:
    chat = world.chat(call.params.get("chat_id"), writing=True)
    chat.members[world.bot_id]["status"] = "left"
    return True


def _action(world: World, call: Call) -> bool:
    chat = world.chat(call.params.get("chat_id"), writing=True)
    world.typing.append({**call.params, "chat_id": chat.id})
    return True


def _answer_query(world: World, call: Call) -> bool:
    if call.params.get("callback_query_id") not in world.queries:
        raise Failed(400, "Bad Request: query is too old and response timeout expired or query ID is invalid")
    world.answered_queries.append(call.params)
    return True


METHODS: dict[str, Method] = {
    "getMe": _get_me,
    "getFile": _get_file,
    "getChat": _get_chat,
    "getChatMemberCount": _member_count,
    "getChatMember": _get_member,
    "getChatAdministrators": _administrators,
    "banChatMember": _leading("restrict/unrestrict chat member", _ban),
    "unbanChatMember": _leading("restrict/unrestrict chat member", _unban),
    "restrictChatMember": _leading("restrict/unrestrict chat member", _restrict),
    "setChatTitle": _leading("change chat title", _title),
    "setChatDescription": _leading("set chat description", _description),
    "pinChatMessage": _leading("manage pinned messages in the chat", _pin),
    "unpinChatMessage": _leading("manage pinned messages in the chat", _unpin),
    "unpinAllChatMessages": _leading("manage pinned messages in the chat", _unpin_all),
    "createChatInviteLink": _leading("manage chat invite link", _invite),
    "leaveChat": _leave,
    "sendChatAction": _action,
    "answerCallbackQuery": _answer_query,
}
