"""The arguments with which a probe makes the calls of the platform API: about its own messages, and the person's chat.

What destroys something, or what others notice, is done only with a target that the person has named.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from parlour.core.platforms.manifest import ActionDeclaration
from parlour_sdk.protocol.chain import Plain
from parlour_sdk.protocol.people import ChatType
from parlour_sdk.values import dataclass

from ..main import CommandError

Arguments = dict[str, Any]
PROBE_TEXT = "a message of parlour platform probe"


@dataclass(frozen=True, slots=True)
class ProbePlace:
    """The place where the probe may act: the chat of the person's message, that message, and one of the bot's own."""

    chat_type: ChatType
    chat_id: str
    user_id: str
    message_id: str
    own_message_id: str = ""

    @property
    def group_id(self) -> str:
        return self.chat_id if self.chat_type == "group" else ""


def _own(place: ProbePlace, **more: Any) -> Arguments | None:
    chat = {"chat_type": place.chat_type, "chat_id": place.chat_id, "message_id": place.own_message_id}
    return {**chat, **more} if place.own_message_id else None


def _group(place: ProbePlace, **more: Any) -> Arguments | None:
    return {"group_id": place.group_id, **more} if place.group_id else None


SAFE: Mapping[str, Callable[[ProbePlace], Arguments | None]] = {
    "send_typing": lambda place: {"chat_type": place.chat_type, "chat_id": place.chat_id},
    "get_message": _own,
    "react": lambda place: _own(place, reaction="👍"),
    "forward_message": lambda place: _forward(place),
    "edit_message": lambda place: _own(place, chain=[Plain(text=f"{PROBE_TEXT}, edited")]),
    "get_user_info": lambda place: {"user_id": place.user_id},
    "get_friend_list": lambda place: {},
    "get_group_info": _group,
    "get_group_list": lambda place: {},
    "get_group_member_list": _group,
    "get_group_member_info": lambda place: _group(place, user_id=place.user_id),
    "is_muted": _group,
    "upload_file": lambda place: {"data": b"parlour platform probe\n", "filename": "probe.txt"},
    "delete_message": _own,
}
"""Calls that a probe makes by itself, in this order. None: the place lacks something, such as a group."""
NAMED: Mapping[str, Callable[[str, ProbePlace], Arguments]] = {
    "set_group_name": lambda target, place: {"group_id": place.group_id, "name": target},
    "mute_member": lambda target, place: {"group_id": place.group_id, "user_id": target, "duration": 60},
    "unmute_member": lambda target, place: {"group_id": place.group_id, "user_id": target},
    "kick_member": lambda target, place: {"group_id": place.group_id, "user_id": target},
    "leave_group": lambda target, place: {"group_id": target},
    "answer_friend_request": lambda target, place: {"request_id": target, "approve": True},
    "answer_group_invite": lambda target, place: {"request_id": target, "approve": True},
    "get_file_url": lambda target, place: {"file_id": target},
}
"""Calls that need a target: most of them change something for others."""


def _forward(place: ProbePlace) -> Arguments | None:
    if not place.own_message_id:
        return None
    return {
        "from_chat_type": place.chat_type, "from_chat_id": place.chat_id, "message_id": place.own_message_id,
        "to_chat_type": place.chat_type, "to_chat_id": place.chat_id,
    }  # fmt: skip


def read_targets(pairs: list[str]) -> dict[str, str]:
    """Reads NAME=TARGET. Raises CommandError."""
    targets = {}
    for pair in pairs:
        name, separator, target = pair.partition("=")
        if not separator or not name or not target:
            raise CommandError(f"--target {pair}: name a call or an action, and its target, as kick_member=ID")
        targets[name] = target
    return targets


def action_parameters(name: str, action: ActionDeclaration, place: ProbePlace, target: str) -> Arguments | None:
    """Returns the parameters of an action: those that were named as JSON, or those that the place provides.

    None if the action changes something and was not named, or if the place does not provide all.
    """
    if target:
        try:
            given = json.loads(target)
        except ValueError:
            given = None
        if not isinstance(given, dict):
            raise CommandError(f"--target {name}: give its parameters as a JSON object")
        return dict(given)
    if not action.read_only:
        return None
    places = {"chat_id": place.chat_id, "group_id": place.group_id}
    known = {**places, "user_id": place.user_id, "message_id": place.own_message_id or place.message_id}
    found = {parameter: places.get(field, "") for parameter, field in action.here.items()}
    required = action.parameters.get("required", [])
    values = {parameter: found.get(parameter) or known.get(parameter, "") for parameter in required}
    return values if all(values.values()) else None
