"""The format of Gemini: generateContent."""

from typing import Any

from .script import Answer, Item, Json, Tool

USAGE = {"promptTokenCount": 10, "candidatesTokenCount": 2, "totalTokenCount": 12}


def read_contents(body: Json) -> tuple[list[Item], list[Tool]]:
    items: list[Item] = []
    for content in body["contents"]:
        for part in content["parts"]:
            if "functionResponse" in part:
                items.append(Item("tool", str(part["functionResponse"].get("response"))))
            else:
                role = "assistant" if content.get("role") == "model" else "user"
                items.append(Item(role, str(part.get("text") or "")))
    declared = [each for tool in body.get("tools") or () for each in tool.get("functionDeclarations") or ()]
    return items, [Tool(each["name"], _schema(each)) for each in declared]


def _schema(declared: Json) -> Json:
    schema: Json = declared.get("parametersJsonSchema") or declared.get("parameters") or {}
    return schema


def wanted_json(body: Json) -> Any:
    """Returns an example of the schema that an answer must have; None if it may be any text."""
    config = body.get("generationConfig") or {}
    schema = config.get("responseJsonSchema") or config.get("responseSchema")
    return _example(schema) if schema else None


def _example(schema: Json) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    match str(schema.get("type", "")).lower():
        case "object":
            return {name: _example(each) for name, each in (schema.get("properties") or {}).items()}
        case "array":
            return []
        case "boolean":
            return False
        case "integer" | "number":
            return 0
    return "x"


def content(answer: Answer) -> Json:
    call = {"name": answer.tool.name, "args": answer.arguments} if answer.tool else None
    part: Json = {"functionCall": call} if call else {"text": answer.text}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": USAGE, "modelVersion": "scripted"}
