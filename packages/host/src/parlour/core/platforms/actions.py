"""Parses an action that a run requests by name into calls of the platform API. Permissions are checked elsewhere.

The chat is the event's own unless another is named; that makes it a different action, with its own permission. Fields
that an action does not use are refused, so that no caller assumes they had an effect.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from parlour.core.errors import CallRejected
from parlour.core.model.chats import PLATFORM_SURFACE
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import BotId
from parlour_sdk.values import dataclass

from . import parameters
from .manifest import LOCATION_FIELDS, AdapterManifest

ApiCall = dict[str, Any]
"""A platform API call: `{api, arguments}`."""
ChainBuilder = Callable[[Mapping[str, Any]], list[list[dict[str, Any]]]]
"""Builds the messages from a payload's text or chain."""
TARGET_FIELDS = frozenset(
    ("bot_id", "account", "chat_type", "chat_id", "group_id", "thread_id", "message_id", "user_id")
)


@dataclass(frozen=True, slots=True)
class PlatformAction:
    """A parsed action with everything that it needs."""

    name: str
    """The action's name as in permissions and policies; for `platform.call` it includes the name of the platform's own
    action.
    """
    bot_id: BotId
    address: dict[str, str]
    calls: list[ApiCall]
    elsewhere: bool
    message_ids: tuple[str, ...] = ()
    """Ids of messages that it names besides the event's own message."""

    def to_stored(self) -> dict[str, Any]:
        """Returns the form that is stored until a person has decided, and executed after that."""
        return {
            "name": self.name,
            "bot_id": self.bot_id,
            "address": self.address,
            "elsewhere": self.elsewhere,
            "calls": self.calls,
        }


class ActionReader:
    """Reads the fields of one request."""

    def __init__(
        self, event: RecordedEvent, target: Mapping[str, Any], payload: Mapping[str, Any], chains: ChainBuilder
    ):
        # data that an API key put into its event identifies no user or chat of a platform
        data = event.envelope.data if event.envelope.surface == PLATFORM_SURFACE else {}
        self._data = data
        self._payload = dict(payload)
        self._target = dict(target)
        self.message_ids: list[str] = []
        self.chains = chains
        event_address = {part: str(data[part]) for part in ("chat_type", "chat_id", "account") if data.get(part)}
        self.bot_id = self._target.get("bot_id", event.envelope.bot_id)
        self.address = {"thread_id": event.envelope.thread_id, **event_address}
        if "group_id" in self._target:
            self.address |= {"chat_type": "group", "chat_id": self._target["group_id"]}
        address_fields = ("chat_type", "chat_id", "account", "thread_id")
        self.address |= {part: self._target[part] for part in address_fields if part in self._target}
        event_target = {**event_address, "thread_id": event.envelope.thread_id}
        self.elsewhere = not event_address or self.bot_id != event.envelope.bot_id or self.address != event_target

    def chat(self) -> ApiCall:
        if "chat_id" not in self.address or self.address.get("chat_type") not in ("private", "group"):
            raise CallRejected("invalid_argument", "target: the event has no chat; name chat_type and chat_id")
        return {"chat_type": self.address["chat_type"], "chat_id": self.address["chat_id"]}

    def group(self) -> ApiCall:
        chat = self.chat()
        if chat["chat_type"] != "group":
            raise CallRejected("invalid_argument", "target: this action is about a group, and the chat is private")
        return {"group_id": chat["chat_id"]}

    def message(self) -> ApiCall:
        """Returns the arguments that name a message in its chat; by default the event's own message."""
        message_id = self._named_message() or (None if self.elsewhere else self._data.get("message_id"))
        if not message_id:
            raise CallRejected("invalid_argument", "target.message_id: which message?")
        return {**self.chat(), "message_id": str(message_id)}

    def _named_message(self) -> str:
        message_id = str(self._target.get("message_id") or self._payload.get("message_id") or "")
        if message_id and message_id != str(self._data.get("message_id", "")):
            self.message_ids.append(message_id)
        return message_id

    def member(self) -> ApiCall:
        user_id = self._target.get("user_id") or self._payload.get("user_id")
        if not user_id:
            raise CallRejected("invalid_argument", "target.user_id: which member?")
        return {**self.group(), "user_id": str(user_id)}

    def request(self) -> ApiCall:
        """Returns the arguments for the event's own request. Another request makes the action `elsewhere`."""
        event_request_id, requested_id = self._data.get("request_id"), self._payload.get("request_id")
        if not (event_request_id or requested_id):
            raise CallRejected("invalid_argument", "payload.request_id: which request?")
        self.elsewhere = self.elsewhere or (requested_id is not None and requested_id != event_request_id)
        return {"request_id": str(requested_id or event_request_id), "approve": self.value("approve", bool)}

    def value(self, name: str, kind: type, default: Any = None) -> Any:
        argument = self._payload.get(name, default)
        if not isinstance(argument, kind) or (kind is int and isinstance(argument, bool)):
            raise CallRejected("invalid_argument", f"payload.{name}: must be of type {kind.__name__}")
        return argument

    def one_chain(self) -> list[dict[str, Any]]:
        chains = self.chains(self._payload)
        if len(chains) != 1:
            raise CallRejected("invalid_argument", "payload: the text is too long for one message")
        return chains[0]

    def send_calls(self, quote: str = "") -> list[ApiCall]:
        chat = self.chat()
        chains = self.chains(self._payload)
        chains[0] = [*([{"type": "Quote", "id": quote}] if quote else []), *chains[0]]
        target = {"target_type": chat["chat_type"], "target_id": chat["chat_id"]}
        return [_call("send_message", **target, chain=chain) for chain in chains]

    def reply(self) -> list[ApiCall]:
        if self.elsewhere:
            raise CallRejected("invalid_argument", "target: a reply goes to the event's own chat; use message.send")
        quoted_id = self._named_message() or str(self._data.get("message_id", ""))
        return self.send_calls(quoted_id if self.value("quote", bool, default=True) else "")

    def duration(self) -> int:
        seconds: int = self.value("duration", int, default=0)
        if seconds < 0:
            raise CallRejected("invalid_argument", "payload.duration: seconds, and 0 for good; it can't be less")
        return seconds

    def forward(self) -> list[ApiCall]:
        source = self.message()
        destination = {part: self.value(part, str) for part in ("to_chat_type", "to_chat_id")}
        event_chat = {"to_chat_type": self._data.get("chat_type"), "to_chat_id": self._data.get("chat_id")}
        self.elsewhere = self.elsewhere or destination != event_chat
        from_chat = {"from_chat_type": source["chat_type"], "from_chat_id": source["chat_id"]}
        return [_call("forward_message", **from_chat, message_id=source["message_id"], **destination)]


def _call(api: str, **arguments: Any) -> ApiCall:
    return {"api": api, "arguments": arguments}


_CHAT = ("bot_id", "account", "chat_type", "chat_id", "group_id", "thread_id")
_MESSAGE = (*_CHAT, "message_id")
_MEMBER = (*_CHAT, "user_id")
_ELSEWHERE = ("bot_id", "account")


@dataclass(frozen=True, slots=True)
class _Action:
    """The fields that an action accepts, and the calls of one API that it makes."""

    api: str
    target: tuple[str, ...]
    payload: tuple[str, ...]
    calls: Callable[[ActionReader], list[ApiCall]]


_ACTIONS: dict[str, _Action] = {
    "message.send": _Action("send_message", _CHAT, ("text", "chain"), lambda reader: reader.send_calls()),
    "message.reply": _Action("send_message", _MESSAGE, ("text", "chain", "quote"), lambda reader: reader.reply()),
    "message.edit": _Action(
        "edit_message",
        _MESSAGE,
        ("text", "chain", "message_id"),
        lambda reader: [_call("edit_message", **reader.message(), chain=reader.one_chain())],
    ),
    "message.delete": _Action(
        "delete_message", _MESSAGE, ("message_id",), lambda reader: [_call("delete_message", **reader.message())]
    ),
    "message.forward": _Action(
        "forward_message", _MESSAGE, ("message_id", "to_chat_type", "to_chat_id"), lambda reader: reader.forward()
    ),
    "message.react": _Action(
        "react",
        _MESSAGE,
        ("message_id", "reaction", "add"),
        lambda reader: [
            _call(
                "react",
                **reader.message(),
                reaction=reader.value("reaction", str),
                add=reader.value("add", bool, default=True),
            )
        ],
    ),
    "group.rename": _Action(
        "set_group_name",
        _CHAT,
        ("name",),
        lambda reader: [_call("set_group_name", **reader.group(), name=reader.value("name", str))],
    ),
    "group.leave": _Action("leave_group", _CHAT, (), lambda reader: [_call("leave_group", **reader.group())]),
    "member.mute": _Action(
        "mute_member",
        _MEMBER,
        ("user_id", "duration"),
        lambda reader: [_call("mute_member", **reader.member(), duration=reader.duration())],
    ),
    "member.unmute": _Action(
        "unmute_member", _MEMBER, ("user_id",), lambda reader: [_call("unmute_member", **reader.member())]
    ),
    "member.kick": _Action(
        "kick_member", _MEMBER, ("user_id",), lambda reader: [_call("kick_member", **reader.member())]
    ),
    "friend_request.answer": _Action(
        "answer_friend_request",
        _ELSEWHERE,
        ("request_id", "approve", "remark"),
        lambda reader: [
            _call("answer_friend_request", **reader.request(), remark=reader.value("remark", str, default="") or None)
        ],
    ),
    "group_invite.answer": _Action(
        "answer_group_invite",
        _ELSEWHERE,
        ("request_id", "approve"),
        lambda reader: [_call("answer_group_invite", **reader.request())],
    ),
    "platform.call": _Action(
        "call_platform_api",
        _CHAT,
        ("action", "params"),
        lambda reader: [
            _call(
                "call_platform_api",
                action=reader.value("action", str),
                params=reader.value("params", dict, default={}),
            )
        ],
    ),
}


def supported_actions(apis: Collection[str]) -> list[str]:
    """Returns the names of the actions that a platform with these APIs executes, without the platform's own ones."""
    return [name for name, action in _ACTIONS.items() if action.api in apis and name != "platform.call"]


def parse_action(
    event: RecordedEvent, action: str, target: Mapping[str, Any], payload: Mapping[str, Any], chains: ChainBuilder
) -> PlatformAction:
    """Parses an action. Raises Refused, with a message, if the request is invalid."""
    definition = _ACTIONS.get(action)
    if definition is None:
        raise CallRejected("invalid_argument", f"action: there is no '{action[:64]}'; there are {', '.join(_ACTIONS)}")
    _check_known(action, "target", target, definition.target)
    _check_known(action, "payload", payload, definition.payload)
    _check_texts(target)
    reader = ActionReader(event, target, payload, chains)
    if not reader.bot_id:
        raise CallRejected("not_supported", "this conversation is on no platform, so there is nobody to act through")
    calls = definition.calls(reader)
    name = f"{action}.{calls[0]['arguments']['action']}" if action == "platform.call" else action
    return PlatformAction(name, reader.bot_id, reader.address, calls, reader.elsewhere, tuple(reader.message_ids))


def check_declared(calls: list[ApiCall], manifest: AdapterManifest) -> None:
    """Raises Refused unless the adapter's manifest declares these calls."""
    for call in calls:
        if call["api"] not in manifest.supported_apis:
            reason = manifest.not_supported.get(call["api"], "its adapter does not declare it")
            raise CallRejected("not_supported", f"this bot's platform has no {call['api']}: {reason}")
        if call["api"] == "call_platform_api":
            problem = parameters.find_problem(manifest, call["arguments"]["action"], call["arguments"]["params"])
            if problem:
                raise CallRejected("invalid_argument", f"payload.{problem}")


def targets_other_place(event: RecordedEvent, calls: list[ApiCall], manifest: AdapterManifest) -> bool:
    """Returns whether one of the platform's own actions is about another place than that of the event."""
    location = _event_location(event)
    for call in calls:
        if call["api"] != "call_platform_api":
            continue
        declared_action = manifest.actions[call["arguments"]["action"]]
        params = call["arguments"]["params"]
        if not declared_action.here and not declared_action.read_only:
            return True
        references = {field: str(params[name]) for name, field in declared_action.here.items() if name in params}
        if any(location.get(field) != value for field, value in references.items()):
            return True
    return False


def _event_location(event: RecordedEvent) -> dict[str, str]:
    """Returns the ids by which an action may refer to the place of its event."""
    data = event.envelope.data if event.envelope.surface == PLATFORM_SURFACE else {}
    location = {name: str(data[name]) for name in LOCATION_FIELDS if data.get(name)}
    if data.get("chat_type") == "group" and data.get("chat_id"):
        location["group_id"] = str(data["chat_id"])
    return location


def _check_known(action: str, part: str, fields: Mapping[str, Any], accepted: tuple[str, ...]) -> None:
    unknown = sorted(fields.keys() - set(accepted))
    if unknown:
        accepted_text = ", ".join(accepted) or "nothing"
        raise CallRejected(
            "invalid_argument", f"{part}.{unknown[0][:64]}: '{action}' has no such thing; it takes {accepted_text}"
        )


def _check_texts(target: Mapping[str, Any]) -> None:
    invalid_field = next((name for name, value in target.items() if not isinstance(value, str) or not value), None)
    if invalid_field is not None:
        raise CallRejected("invalid_argument", f"target.{invalid_field}: must be a text that is not empty")
