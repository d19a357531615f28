"""The format of Anthropic: messages."""

import json
from typing import Any

from .openai import text_of
from .script import Answer, Item, Json, Tool

USAGE = {"input_tokens": 10, "output_tokens": 2}


def read_messages(body: Json) -> tuple[list[Item], list[Tool]]:
    items: list[Item] = []
    for message in body["messages"]:
        content = message["content"] if isinstance(message["content"], list) else [message]
        if message["role"] == "assistant":
            items.append(Item("assistant", text_of(message["content"])))
            continue
        for part in content:
            is_result = part.get("type") == "tool_result"
            text = text_of(part.get("content")) if is_result or "content" in part else str(part.get("text") or "")
            items.append(Item("tool" if is_result else "user", text))
    tools = [Tool(each["name"], each["input_schema"]) for each in body.get("tools") or () if "input_schema" in each]
    return items, tools


def _block(answer: Answer) -> Json:
    if answer.tool is None:
        return {"type": "text", "text": answer.text}
    return {"type": "tool_use", "id": f"toolu_{answer.call_id}", "name": answer.tool.name, "input": answer.arguments}


def _message(answer: Answer, content: list[Json]) -> Json:
    reason = "tool_use" if answer.tool else "end_turn"
    base = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": content}
    return {**base, "stop_reason": reason if content else None, "stop_sequence": None, "usage": USAGE}


def messages_whole(answer: Answer) -> Json:
    return _message(answer, [_block(answer)])


def messages_events(answer: Answer) -> list[Json]:
    """Returns the events of a streamed message."""
    block = _block(answer)
    if answer.tool is None:
        empty: Any = {**block, "text": ""}
        delta = {"type": "text_delta", "text": answer.text}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(answer.arguments)}
    end = {"stop_reason": "tool_use" if answer.tool else "end_turn", "stop_sequence": None}
    return [
        {"type": "message_start", "message": _message(answer, [])},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": USAGE},
        {"type": "message_stop"},
    ]
