"""Implements the actions of the simulated implementation, and its refusals."""

import time
from collections.abc import Callable
from typing import Any

from .cq_codes import understood
from .world import Failed, Payload, World, whole_number

Handler = Callable[[World, Payload], Any]
LONGEST_BAN = 30 * 24 * 3600


def perform(world: World, action: Any, params: Payload) -> Any:
    handler = ACTIONS.get(str(action))
    if handler is None:
        raise Failed(1404, f"there is no action {action}")
    if not world.online:
        raise Failed(1200, "the account is offline")
    try:
        return handler(world, params)
    except KeyError as missing:
        raise Failed(1400, f"the parameter {missing} is missing") from None


def _segments(message: Any) -> list[Payload]:
    if isinstance(message, str):
        return understood(message)
    if isinstance(message, dict):
        return [message]
    if isinstance(message, list):
        return message
    raise Failed(1400, "message must be a string, a segment or a list of segments")


def _send_private(world: World, params: Payload) -> Payload:
    user = whole_number("user_id", params["user_id"])
    return {"message_id": world.show(f"private:{user}", _segments(params["message"])).message_id}


def _send_group(world: World, params: Payload) -> Payload:
    group = world.group(params["group_id"])
    return {"message_id": world.show(f"group:{group.group_id}", _segments(params["message"])).message_id}


def _send_msg(world: World, params: Payload) -> Payload:
    return _send_group(world, params) if params.get("group_id") else _send_private(world, params)


def _forward(kind: str) -> Handler:
    def send(world: World, params: Payload) -> Payload:
        nodes = params["messages"]
        if not isinstance(nodes, list) or not nodes or any(each.get("type") != "node" for each in nodes):
            raise Failed(1400, "messages must be a list of nodes")
        for node in nodes:
            if "id" in node["data"]:
                _message(world, node["data"]["id"])
        target = whole_number("target", params["group_id" if kind == "group" else "user_id"])
        message = world.show(f"{kind}:{target}", nodes, forward=True)
        world.forwards[str(message.message_id)] = nodes
        return {"message_id": message.message_id, "forward_id": str(message.message_id)}

    return send


def _message(world: World, message_id: Any) -> Payload:
    message = world.messages.get(whole_number("message_id", message_id))
    if message is None:
        raise Failed(1200, "the message does not exist")
    return message


def _history(kind: str) -> Handler:
    """Returns the chat's history, an extension that NapCat, Lagrange and go-cqhttp have."""

    def latest(world: World, params: Payload) -> Payload:
        if not world.has_history:
            raise Failed(1404, "there is no such action")
        target = whole_number("target", params["group_id" if kind == "group" else "user_id"])
        name = "group_id" if kind == "group" else "user_id"
        messages = [
            each
            for each in world.messages.values()
            if each["message_type"] == kind and (each.get("chat") == str(target) or each.get(name) == target)
        ]
        return {"messages": messages[-whole_number("count", params.get("count", 20)) :]}

    return latest


def _delete(world: World, params: Payload) -> None:
    del world.messages[_message(world, params["message_id"])["message_id"]]


def _forwarded(world: World, params: Payload) -> Payload:
    name = str(params.get("message_id") or params["id"])
    if name not in world.forwards:
        raise Failed(1200, "the merged forward does not exist")
    return {"messages": world.forwards[name]}


def _group_info(world: World, params: Payload) -> Payload:
    group = world.group(params["group_id"])
    counts = {"member_count": len(group.members), "max_member_count": 500}
    return {"group_id": group.group_id, "group_name": group.name, **counts}


def _rename(world: World, params: Payload) -> None:
    world.need_admin(params["group_id"])
    world.group(params["group_id"]).name = str(params["group_name"])


def _ban(world: World, params: Payload) -> None:
    world.need_admin(params["group_id"])
    seconds = whole_number("duration", params.get("duration", 1800))
    if seconds > LONGEST_BAN:
        raise Failed(1400, "nobody can be muted for longer than 30 days")
    world.member(params["group_id"], params["user_id"])["shut_up_timestamp"] = (
        int(time.time()) + seconds if seconds else 0
    )


def _kick(world: World, params: Payload) -> None:
    world.need_admin(params["group_id"])
    member = world.member(params["group_id"], params["user_id"])
    del world.group(params["group_id"]).members[member["user_id"]]


def _leave(world: World, params: Payload) -> None:
    del world.groups[world.group(params["group_id"]).group_id]


def _member_field(name: str, parameter: str, default: Any) -> Handler:
    def change(world: World, params: Payload) -> None:
        world.need_admin(params["group_id"])
        world.member(params["group_id"], params["user_id"])[name] = params.get(parameter, default)

    return change


def _admin(world: World, params: Payload) -> None:
    world.need_admin(params["group_id"])
    role = "admin" if params.get("enable", True) else "member"
    world.member(params["group_id"], params["user_id"])["role"] = role


def _whole_ban(world: World, params: Payload) -> None:
    world.need_admin(params["group_id"])
    world.group(params["group_id"]).whole_ban = bool(params.get("enable", True))


def _stranger(world: World, params: Payload) -> Payload:
    user = whole_number("user_id", params["user_id"])
    return {"user_id": user, "nickname": f"user {user}", "sex": "unknown", "age": 0}


def _answer_request(world: World, params: Payload) -> None:
    request = world.requests.get(str(params["flag"]))
    if request is None:
        raise Failed(1200, "the request does not exist or was answered already")
    request["answer"] = {name: value for name, value in params.items() if name != "flag"}


def _file(world: World, params: Payload) -> Payload:
    name = str(params.get("file") or params.get("file_id"))
    if name not in world.files:
        raise Failed(1200, f"the file {name!r} does not exist")
    return {"file": f"/tmp/{name}", "url": world.files[name], "file_name": name}


def _honor(world: World, params: Payload) -> Payload:
    return {"group_id": world.group(params["group_id"]).group_id, "current_talkative": None, "type": params["type"]}


ACTIONS: dict[str, Handler] = {
    "send_private_msg": _send_private,
    "send_group_msg": _send_group,
    "send_msg": _send_msg,
    "send_private_forward_msg": _forward("private"),
    "send_group_forward_msg": _forward("group"),
    "delete_msg": _delete,
    "get_msg": lambda world, params: _message(world, params["message_id"]),
    "get_forward_msg": _forwarded,
    "get_group_msg_history": _history("group"),
    "get_friend_msg_history": _history("private"),
    "get_group_info": _group_info,
    "get_group_list": lambda world, params: [_group_info(world, {"group_id": each}) for each in world.groups],
    "get_group_member_list": lambda world, params: list(world.group(params["group_id"]).members.values()),
    "get_group_member_info": lambda world, params: world.member(params["group_id"], params["user_id"]),
    "set_group_name": _rename,
    "set_group_ban": _ban,
    "set_group_kick": _kick,
    "set_group_leave": _leave,
    "set_group_card": _member_field("card", "card", ""),
    "set_group_special_title": _member_field("title", "special_title", ""),
    "set_group_admin": _admin,
    "set_group_whole_ban": _whole_ban,
    "get_stranger_info": _stranger,
    "get_friend_list": lambda world, params: list(world.friends.values()),
    "set_friend_add_request": _answer_request,
    "set_group_add_request": _answer_request,
    "get_image": _file,
    "get_record": _file,
    "get_file": _file,
    "get_group_file_url": _file,
    "get_private_file_url": _file,
    "get_group_honor_info": _honor,
    "get_login_info": lambda world, params: {"user_id": world.self_id, "nickname": "bot"},
    "get_status": lambda world, params: {"online": world.online, "good": True},
    "get_version_info": lambda world, params: {
        "app_name": "parlour-onebot-simulator",
        "app_version": "1",
        "protocol_version": "v11",
    },
    "can_send_image": lambda world, params: {"yes": True},
    "can_send_record": lambda world, params: {"yes": True},
}
