"""Converts an event into a user message: messages as they are, other events by the template of their type."""

import json
from collections.abc import Mapping

from parlour_sdk.protocol.context import AgentRunContext

from . import user_message
from .template_variables import TemplateVariables, in_group
from .user_message import UserMessage

MAX_DATA_CHARACTERS = 4000


def to_user_message(ctx: AgentRunContext, templates: Mapping[str, str], variables: TemplateVariables) -> UserMessage:
    given = user_message.from_input(ctx.input, speaker_name(ctx, ctx.actor.actor_name if ctx.actor else None))
    template = templates.get(ctx.event.event_type)
    if template is not None:
        return UserMessage(variables.fill(template), given.media)
    if ctx.event.event_type == "message.received" or not given.is_empty:
        return given
    return UserMessage(_describe(ctx))


def speaker_name(ctx: AgentRunContext, name: str | None) -> str | None:
    """Returns the name to put before a message in a group; None in a private chat."""
    return name if in_group(ctx) else None


def _describe(ctx: AgentRunContext) -> str:
    """Describes an event that has no template."""
    data = json.dumps(ctx.event.data, ensure_ascii=False, default=str)[:MAX_DATA_CHARACTERS]
    who = f" by {ctx.actor.actor_name or ctx.actor.actor_id}" if ctx.actor else ""
    return f"This happened{who}: {ctx.event.event_type}\n{data}"
