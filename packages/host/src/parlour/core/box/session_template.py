"""Session templates: which messages share a sandbox. `{launcher_type}_{launcher_id}` gives each chat its own."""

import re
from collections.abc import Mapping
from typing import Final

from parlour.core.errors import CallRejected
from parlour.core.model.chats import PLATFORM_SURFACE
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import AgentId, RunId

DEFAULT_TEMPLATE: Final = "{launcher_type}_{launcher_id}"
VARIABLES: Final = (
    "bot_id",
    "launcher_type",
    "launcher_id",
    "sender_id",
    "conversation_id",
    "thread_id",
    "run_id",
    "agent_id",
    "global",
)
"""Variables of a template. The workspace is always a part of the session and can't be left out."""
MAX_TEMPLATE_CHARACTERS: Final = 200
_VARIABLE = re.compile(r"\{([^{}]*)\}")


def find_problem(template: str) -> str:
    """Returns what is wrong with a template; empty if nothing is."""
    names = _VARIABLE.findall(template)
    unknown = [name for name in names if name not in VARIABLES]
    if unknown:
        return f"there is no variable {{{unknown[0][:40]}}}; there are {', '.join(VARIABLES)}"
    rest = _VARIABLE.sub("", template)
    if "{" in rest or "}" in rest:
        return "a brace is left open; write a variable as {launcher_id}"
    if not names:
        return "it names no variable, so that all would share one sandbox; write {global} if that is wanted"
    return ""


def template_values(event: RecordedEvent, run_id: RunId, agent_id: AgentId) -> dict[str, str]:
    """Returns the variables of an event."""
    envelope = event.envelope
    if envelope.surface == PLATFORM_SURFACE and envelope.data.get("chat_id"):
        kind = "group" if envelope.data.get("chat_type") == "group" else "person"
        launcher = f"{envelope.bot_id}:{envelope.data['chat_id']}"
    else:
        kind, launcher = "person", f"{envelope.surface}:{envelope.bot_id}:{envelope.principal}:{envelope.chat}"
    return {
        "bot_id": envelope.bot_id,
        "launcher_type": kind,
        "launcher_id": launcher,
        "sender_id": envelope.actor.id,
        "conversation_id": event.conversation_id,
        "thread_id": envelope.thread_id,
        "run_id": run_id,
        "agent_id": agent_id,
        "global": "global",
    }


def render(template: str, values: Mapping[str, str]) -> str:
    """Fills in a template. Raises CallRejected if the event lacks one of its variables."""
    for name in _VARIABLE.findall(template):
        if not values.get(name):
            message = f"this event has no {name}, which the agent's session template {template} needs"
            raise CallRejected("invalid_argument", message)
    return _VARIABLE.sub(lambda match: values[match[1]], template)
