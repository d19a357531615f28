"""Requests the action that its settings name, `[action, target]`, and answers with the outcome."""

import json
from collections.abc import AsyncGenerator
from typing import Any

from parlour_sdk import plugin, results, runner
from parlour_sdk.api import AgentAPIException

plugin("test/doorkeeper-agent", version="0.1.0")


@runner(
    label={"en_US": "Doorkeeper", "zh_Hans": "守门人"},
    description={
        "en_US": "Keeps the peace in a group, and asks before it acts.",
        "zh_Hans": "维护群内秩序，行动前先请示。",
    },
    capabilities=["platform_actions"],
    permissions={"platform_actions": ["*"]},
    config=[
        {"name": "asks", "type": "string", "label": {"en_US": "What it asks for", "zh_Hans": "请求的操作"}},
        {"name": "seconds", "type": "integer", "label": {"en_US": "How long it waits", "zh_Hans": "等待时间"}},
    ],
)
async def keep(ctx: Any, api: Any) -> AsyncGenerator[results.Result, None]:
    action, target = json.loads(ctx.config["asks"])
    try:
        outcome = await api.platform.request_action(action, target, None, ctx.config.get("seconds", 0))
        yield results.completed(f"{action}: {outcome.status}")
    except AgentAPIException as failure:
        yield results.completed(f"{action}: {failure.error.message}")
