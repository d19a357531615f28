"""Simulates a plugin that is asked about messages, by a hook and as a filter, and the promise that it is asked once."""

import asyncio
import random
from collections import Counter
from typing import Any

from parlour.core.model.ids import PluginId
from parlour.core.model.ports import PluginDisconnected
from parlour.core.plugin_hooks.components import ComponentRegistry
from parlour_sdk.protocol.manifest import PluginPermissions

from .promises import require

HOOK = PluginId("simulated/hook")
HOOK_PERMISSIONS = PluginPermissions(events=["message.arriving", "text.filtering"])
LISTENER = {
    "kind": "EventListener",
    "name": "hook",
    "spec": {
        "handlers": [
            {"name": "hook", "event": "message.arriving"},
            {"name": "filter", "event": "text.filtering"},
        ]
    },
}
HANG_SECONDS = 60


def register_hook(components: ComponentRegistry) -> None:
    components.replace_plugin(HOOK, "1", [LISTENER])


async def ask_hook(asked: Counter[str], data: dict[str, Any]) -> dict[str, Any]:
    """Answers, hangs or crashes, as the text of the message decides. It counts the messages outside of reruns."""
    event = data["event"]
    if not data.get("rehearsal"):
        asked[event["event_id"]] += 1
    behaviour = random.Random(str(event["text"])).random()
    if behaviour < 0.1:
        await asyncio.sleep(HANG_SECONDS)
    if behaviour < 0.2:
        raise PluginDisconnected("crashed")
    await asyncio.sleep(behaviour)
    if event["type"] == "text.filtering":
        return {"handled": True, "finding": "a word"}
    return {"handled": True, "variables": {"seen": True}, "input": {"text": event["text"]}}


def check_asked(asked: Counter[str], crashes: int) -> None:
    """Checks that a message is asked about again only after a crash of the Host."""
    for event_id, times in asked.items():
        require(times <= 1 + crashes, f"{event_id} was asked about {times} times, with {crashes} crashes")
