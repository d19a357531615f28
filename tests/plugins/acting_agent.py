"""Requests the actions that the message lists, `[[action, target, payload, wait], ...]`, and reports the outcomes."""

import json
from collections.abc import AsyncGenerator
from typing import Any

from parlour_sdk import plugin, results, runner
from parlour_sdk.api import AgentAPIException

plugin("test/acting-agent", version="0.1.0")


@runner(
    capabilities=["platform_actions"],
    permissions={"platform_actions": ["*", "elsewhere/message.send"]},
    config=[{"name": "otherwise", "type": "string", "label": {"en_US": "What to ask for when nothing is said"}}],
)
async def act(ctx: Any, api: Any) -> AsyncGenerator[results.Result, None]:
    said = ctx.input.text or ctx.config.get("otherwise") or ""
    if not said.startswith("["):
        yield results.completed(f"{ctx.event.event_type} {ctx.event.data.get('decision', '')} {said}".strip())
        return
    for action, target, payload, wait in json.loads(said):
        try:
            outcome = await api.platform.request_action(action, target, payload, wait)
            status = outcome.status
        except AgentAPIException as failure:
            status = f"{failure.error.code}: {failure.error.message}"
        yield results.completed(f"{action}: {status}")
