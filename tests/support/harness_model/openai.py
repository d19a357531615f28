"""The two formats of OpenAI: chat completions and responses."""

import json
from typing import Any

from .script import Answer, Item, Json, Tool

USAGE = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}


def text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text") or "") for part in content or () if isinstance(part, dict))


def read_chat(body: Json) -> tuple[list[Item], list[Tool]]:
    items = [
        Item(message["role"] if message["role"] in ("assistant", "tool") else "user", text_of(message.get("content")))
        for message in body["messages"]
        if message["role"] not in ("system", "developer")
    ]
    tools = [
        Tool(each["function"]["name"], each["function"].get("parameters") or {}) for each in body.get("tools") or ()
    ]
    return items, tools


def chat_call(answer: Answer) -> list[Json]:
    if answer.tool is None:
        return []
    function = {"name": answer.tool.name, "arguments": json.dumps(answer.arguments)}
    return [{"index": 0, "id": f"call_{answer.call_id}", "type": "function", "function": function}]


def chat_chunks(answer: Answer) -> list[Json]:
    """Returns the events of a streamed completion."""
    base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    calls = chat_call(answer)
    delta = {"role": "assistant", **({"tool_calls": calls} if calls else {"content": answer.text})}
    reason = "tool_calls" if calls else "stop"
    return [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {**base, "choices": [], "usage": USAGE},
    ]


def chat_whole(answer: Answer) -> Json:
    message = {"role": "assistant", "content": answer.text or None, "tool_calls": chat_call(answer) or None}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": "scripted", "choices": [choice], "usage": USAGE}


def read_responses(body: Json) -> tuple[list[Item], list[Tool]]:
    given = body["input"] if isinstance(body["input"], list) else [{"role": "user", "content": body["input"]}]
    items = []
    for each in given:
        kind = each.get("type", "message")
        if kind.endswith("_call_output"):
            output = each.get("output")
            items.append(Item("tool", text_of(output) if isinstance(output, str | list) else json.dumps(output)))
        elif kind.endswith("_call"):
            items.append(Item("assistant", ""))
        elif kind == "message" and each["role"] in ("user", "assistant"):
            items.append(Item(each["role"], text_of(each.get("content"))))
    return items, list(_flat(body.get("tools") or (), ""))


def _flat(tools: Any, namespace: str) -> Any:
    for each in tools:
        if each.get("type") == "namespace":
            yield from _flat(each.get("tools") or (), each["name"])
        elif each.get("type") == "function":
            yield Tool(each["name"], each.get("parameters") or {}, namespace)


def responses_events(answer: Answer) -> list[Json]:
    """Returns the events of a streamed response."""
    if answer.tool is None:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        item: Json = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
    else:
        item = {
            "type": "function_call",
            "id": f"fc_{answer.call_id}",
            "call_id": f"call_{answer.call_id}",
            "status": "completed",
        }
        item |= {"name": answer.tool.name, "arguments": json.dumps(answer.arguments)}
        item |= {"namespace": answer.tool.namespace} if answer.tool.namespace else {}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12, **details}
    response = {"id": "resp_1", "object": "response", "status": "in_progress", "model": "scripted", "output": []}
    events: list[Json] = [{"type": "response.created", "response": response}]
    events.append({"type": "response.output_item.added", "output_index": 0, "item": {**item, "status": "in_progress"}})
    if answer.text:
        place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
        events.append({"type": "response.output_text.delta", **place, "delta": answer.text})
    events.append({"type": "response.output_item.done", "output_index": 0, "item": item})
    done = {**response, "status": "completed", "output": [item], "usage": usage}
    return [*events, {"type": "response.completed", "response": done}]
