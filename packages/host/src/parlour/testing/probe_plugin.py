"""A plugin that records every event and makes requested calls. Installed in a Host, it shows what an adapter really
does.

Every event is a line of `events.jsonl` in its data folder. A message that is a JSON list of `{"api", "arguments"}`,
with an api such as `groups.info` or `reply`, is a sweep: each call's outcome is a line of `answers.jsonl`.
"""

import json
import os
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from parlour_sdk import on, plugin
from parlour_sdk.api import AgentAPIException
from parlour_sdk.protocol.chain import MessageChain, chain_text
from parlour_sdk.protocol.platform_events import MessageReceived

plugin(
    "parlour/probe",
    version="0.1.0",
    permissions={
        "events": ["*"],
        "platform_api": [
            "message.send",
            "message.manage",
            "message.read",
            "group.read",
            "group.manage",
            "member.moderate",
            "user.read",
            "requests.answer",
            "media",
            "platform.call",
        ],
    },
)
FOLDER = Path(os.environ.get("PARLOUR_PLUGIN_DATA", "."))


@on("*", observe=True)
async def hear(event: Any, ctx: Any) -> None:
    _note("events", event.model_dump(mode="json", exclude_none=True))
    if isinstance(event, MessageReceived):
        for call in _sweep(chain_text(event.message_chain)):
            _note("answers", {**call, **await _call(ctx, call)})


def _sweep(text: str) -> list[dict[str, Any]]:
    return list(json.loads(text)) if text.startswith('[{"api"') else []


async def _call(ctx: Any, call: dict[str, Any]) -> dict[str, Any]:
    namespace, _, method = call["api"].partition(".")
    arguments = dict(call["arguments"])
    if "chain" in arguments:
        arguments["chain"] = TypeAdapter(MessageChain).validate_python(arguments["chain"])
    if "content" in arguments:
        arguments["content"] = arguments["content"].encode()
    target = getattr(getattr(ctx.api, namespace), method) if method else getattr(ctx, namespace)
    try:
        answer = await target(**arguments)
    except AgentAPIException as error:
        return {"refused": error.error.code, "reason": error.error.message}
    return {"answer": _plain(answer)}


def _plain(answer: Any) -> Any:
    if isinstance(answer, list):
        return [_plain(each) for each in answer]
    return answer.model_dump(mode="json", exclude_none=True) if isinstance(answer, BaseModel) else answer


def _note(name: str, record: dict[str, Any]) -> None:
    with (FOLDER / f"{name}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
