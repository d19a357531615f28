"""Offers actions on the chat platform as tools: those that the run may request, such as reacting or muting a member.

Each acts in the chat of the run's own event. Actions that need an approval wait for the decision.
"""

import json
from collections.abc import Sequence
from functools import cache, partial
from typing import Any, Final

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.actions import ActionOutcome
from parlour_sdk.protocol.content import TextElement
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.models import ToolDefinition
from parlour_sdk.protocol.tools import ToolOutcome

from ..values import dataclass
from .errors import seconds_left
from .template_variables import in_group
from .tools import GrantedTool

WAIT_SECONDS = 1800.0
"""Longest time for which a run waits for the approval of an action."""
DEADLINE_MARGIN_SECONDS = 15.0
"""Seconds before the run's deadline at which it stops waiting, so that the model can still answer."""
MAX_RESULT_CHARACTERS = 2000
TARGET_FIELDS: Final = ("message_id", "user_id")
_MESSAGE = {"type": "string", "description": "The message's id. Leave it out for the message that you answer."}
_MEMBER = {"type": "string", "description": "The member's id: the number after # in the head of their messages."}
_TEXT = {"type": "string"}
_APPROVE = {"type": "boolean", "description": "True accepts, false refuses."}


@dataclass(frozen=True, slots=True)
class ActionTool:
    """An action as a tool. Its parameters are those of the action; `needs` is a field that the event must have."""

    description: str
    properties: dict[str, Any]
    required: tuple[str, ...] = ()
    needs: str = ""
    groups_only: bool = False


TOOLS: Final[dict[str, ActionTool]] = {
    "message.send": ActionTool(
        "Sends one more message to this chat, besides your answer.", {"text": _TEXT}, ("text",), "chat_id"
    ),
    "message.reply": ActionTool(
        "Sends one more message that quotes a message of this chat.",
        {"text": _TEXT, "message_id": _MESSAGE},
        ("text",),
        "message_id",
    ),
    "message.edit": ActionTool(
        "Replaces the text of a message that you sent before.",
        {"text": _TEXT, "message_id": {"type": "string"}},
        ("text", "message_id"),
        "chat_id",
    ),
    "message.delete": ActionTool("Deletes a message of this chat.", {"message_id": _MESSAGE}, (), "message_id"),
    "message.react": ActionTool(
        "Adds a reaction to a message, or removes your own.",
        {
            "reaction": {"type": "string", "description": "An emoji, or an id of the platform."},
            "add": {"type": "boolean", "description": "False removes it."},
            "message_id": _MESSAGE,
        },
        ("reaction",),
        "message_id",
    ),
    "group.rename": ActionTool("Renames this group.", {"name": _TEXT}, ("name",), groups_only=True),
    "group.leave": ActionTool("Makes you leave this group.", {}, groups_only=True),
    "member.mute": ActionTool(
        "Keeps a member of this group from writing for a time.",
        {"user_id": _MEMBER, "duration": {"type": "integer", "description": "Seconds; 0 is for good."}},
        ("user_id", "duration"),
        groups_only=True,
    ),
    "member.unmute": ActionTool(
        "Lets a muted member of this group write again.", {"user_id": _MEMBER}, ("user_id",), groups_only=True
    ),
    "member.kick": ActionTool(
        "Removes a member from this group.", {"user_id": _MEMBER}, ("user_id",), groups_only=True
    ),
    "friend_request.answer": ActionTool(
        "Answers the friend request that this event is about.", {"approve": _APPROVE}, ("approve",), "request_id"
    ),
    "group_invite.answer": ActionTool(
        "Answers the invitation to a group that this event is about.", {"approve": _APPROVE}, ("approve",), "request_id"
    ),
}


def platform_tools(ctx: AgentRunContext, api: AgentRunAPI) -> Sequence[GrantedTool]:
    """Returns the actions that the run may request about its event, as tools."""
    if not ctx.context.available_apis.platform_action:
        return ()
    group = in_group(ctx)
    offered = {name: TOOLS[name] for name in ctx.resources.platform_actions if name in TOOLS}
    return [
        GrantedTool(_definition(name), partial(_request, ctx, api, name), needs_approval=True)
        for name, tool in offered.items()
        if (group or not tool.groups_only) and (not tool.needs or ctx.event.data.get(tool.needs))
    ]


@cache
def _definition(name: str) -> ToolDefinition:
    tool = TOOLS[name]
    schema = {"type": "object", "properties": tool.properties, "required": list(tool.required)}
    return ToolDefinition(name=name, description=tool.description, parameters_schema=schema)


async def _request(ctx: AgentRunContext, api: AgentRunAPI, name: str, parameters: dict[str, Any]) -> ToolOutcome:
    unknown = sorted(parameters.keys() - TOOLS[name].properties.keys())
    if unknown:
        return _outcome(f"{name} has no parameter '{unknown[0][:64]}'", is_error=True)
    target = {field: str(parameters[field]) for field in TARGET_FIELDS if parameters.get(field)}
    payload = {field: value for field, value in parameters.items() if field not in TARGET_FIELDS}
    remaining = seconds_left(ctx)
    wait = WAIT_SECONDS if remaining is None else max(0.0, min(WAIT_SECONDS, remaining - DEADLINE_MARGIN_SECONDS))
    return _describe(name, await api.platform.request_action(name, target, payload, wait))


def _describe(name: str, outcome: ActionOutcome) -> ToolOutcome:
    match outcome.status:
        case "denied":
            return _outcome(f"{name} was not done: it is not allowed.", is_error=True)
        case "pending":
            return _outcome(f"{name} was not done yet: a person has to allow it, or the platform is slow.")
    result = "" if outcome.result in (None, {}) else json.dumps(outcome.result, ensure_ascii=False, default=str)
    return _outcome(f"Done. {result[:MAX_RESULT_CHARACTERS]}".strip())


def _outcome(text: str, is_error: bool = False) -> ToolOutcome:
    return ToolOutcome(content=[TextElement(text=text)], is_error=is_error)
