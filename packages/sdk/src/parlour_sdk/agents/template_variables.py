"""Fills in the variables of a prompt or an event's template: {{actor}}, {{group}}, {{time}}, {{event.member.id}}.

Variables that plugins set for the event are filled in by their names. Values are never searched for variables again,
and unknown names are left unchanged.
"""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from typing import Any, Final

from parlour_sdk.protocol.context import AgentRunContext

VARIABLE = re.compile(r"\{\{\s*([a-z_]+)((?:\.[\w-]+)*)\s*\}\}")
MAX_NAME_CHARACTERS = 100
MAX_FIELD_CHARACTERS = 2000


class TemplateVariables:
    """Fills in templates with the facts of one run."""

    def __init__(self, ctx: AgentRunContext, now: Callable[[tzinfo], datetime] = datetime.now) -> None:
        self._ctx = ctx
        self._now = now

    def fill(self, template: str) -> str:
        """Returns the template with its variables replaced by their values."""
        return VARIABLE.sub(self._value, template) if "{{" in template else template

    def _value(self, match: re.Match[str]) -> str:
        name, path = match[1], tuple(match[2].split(".")[1:])
        if name == "event":
            return _field(_value_at(self._ctx.event.data, path))
        if name in RESOLVERS and not path:
            return RESOLVERS[name](self)
        set_by_plugins = self._ctx.metadata.get("variables", {})
        return _field(_value_at(set_by_plugins, (name, *path))) if name in set_by_plugins else match[0]

    def _actor(self) -> str:
        actor = self._ctx.actor
        return _name(actor.actor_name or actor.actor_id) if actor else ""

    def _group_id(self) -> str:
        return group_id(self._ctx) if in_group(self._ctx) else ""

    def now(self) -> datetime:
        """Returns the time in the time zone of the run."""
        return self._now(zone(self._ctx.runtime.timezone))

    def _group(self) -> str:
        return _name(_value_at(self._ctx.event.data, ("group", "name"))) or self._group_id()


RESOLVERS: Final[dict[str, Callable[[TemplateVariables], str]]] = {
    "actor": lambda variables: variables._actor(),
    "actor_id": lambda variables: (variables._ctx.actor and variables._ctx.actor.actor_id) or "",
    "group": lambda variables: variables._group(),
    "group_id": lambda variables: variables._group_id(),
    "chat_type": lambda variables: "group" if in_group(variables._ctx) else "private",
    "bot_id": lambda variables: (variables._ctx.conversation and variables._ctx.conversation.bot_id) or "",
    "conversation_id": lambda variables: variables._ctx.context.conversation_id or "",
    "surface": lambda variables: variables._ctx.delivery.surface,
    "locale": lambda variables: variables._ctx.runtime.locale or "",
    "time": lambda variables: variables.now().strftime("%Y-%m-%d %H:%M %Z"),
    "date": lambda variables: variables.now().strftime("%Y-%m-%d"),
    "weekday": lambda variables: variables.now().strftime("%A"),
    "event_type": lambda variables: variables._ctx.event.event_type,
    "input": lambda variables: variables._ctx.input.text or "",
}
"""The variables by their names, except those of the event and those that plugins set."""


def in_group(ctx: AgentRunContext) -> bool:
    """Returns whether the run answers in a group; otherwise it answers in a private chat."""
    launcher = ctx.conversation.launcher_type if ctx.conversation else None
    return "group" in (launcher, ctx.event.data.get("chat_type")) or bool(ctx.event.data.get("group"))


def group_id(ctx: AgentRunContext) -> str:
    """Returns the platform's id of the group that the event is from."""
    conversation = ctx.conversation
    group = (conversation.launcher_id or conversation.session_id) if conversation else None
    return str(_value_at(ctx.event.data, ("group", "id")) or ctx.event.data.get("chat_id") or group or "")


def zone(name: str | None) -> tzinfo:
    """Returns the time zone; UTC if the Host names none or an unknown one."""
    if name in (None, "", "UTC"):
        return UTC
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(str(name))
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def _value_at(data: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        if isinstance(data, list) and part.isdigit() and int(part) < len(data):
            data = data[int(part)]
        elif isinstance(data, dict):
            data = data.get(part)
        else:
            return None
    return data


def _name(value: Any) -> str:
    """Shortens a name to one line, because users choose their names themselves."""
    return " ".join(str(value or "").split())[:MAX_NAME_CHARACTERS]


def _field(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text[:MAX_FIELD_CHARACTERS]
