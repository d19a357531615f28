"""Fetches the data that a message only refers to: the quoted message, the nodes of a merged forward, the address of a
file.

All look-ups of a message run concurrently. Whatever is not available in time is left out; the message itself never
waits long and never fails.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from parlour.core.platforms.port import PlatformRefused, PlatformUncertain

from .segments import MEDIA, file_location, segments_of

LOOKUP_TIMEOUT_SECONDS = 5.0
"""Seconds for all look-ups of one message."""
FILE_TIMEOUT_SECONDS = 2.0
"""Seconds for the address of a file inside a quoted or forwarded message, so that its text is not lost with it."""
MAX_LOOKUPS = 20
"""Maximum number of segments of one message that are looked up."""
Payload = dict[str, Any]
LookupFunction = Callable[[str, Payload], Awaitable[Any]]


def needs_lookup(segments: list[Any]) -> bool:
    return any(_is_reference(segment) for segment in segments)


async def enrich_message(payload: Payload, segments: list[Any], ask: LookupFunction) -> Payload:
    indexes = [index for index, segment in enumerate(segments) if _is_reference(segment)][:MAX_LOOKUPS]
    tasks = {index: asyncio.create_task(_complete(payload, segments[index], ask)) for index in indexes}
    try:
        await asyncio.wait(tasks.values(), timeout=LOOKUP_TIMEOUT_SECONDS)
    finally:
        for task in tasks.values():
            task.cancel()
    results = {index: task.result() for index, task in tasks.items() if task.done()}
    return {**payload, "message": [results.get(index, segment) for index, segment in enumerate(segments)]}


def _is_reference(segment: Any) -> bool:
    if not isinstance(segment, dict) or not isinstance(segment.get("data"), dict):
        return False
    kind, data = segment.get("type"), segment["data"]
    match kind:
        case "forward":
            return "content" not in data
        case "reply":
            return "quoted" not in data
    return isinstance(kind, str) and kind in MEDIA and file_location(data) is None


async def _complete(payload: Payload, segment: dict[str, Any], ask: LookupFunction) -> dict[str, Any]:
    data = segment["data"]
    try:
        fields = await _look_up(payload, segment["type"], data, ask)
    except (PlatformRefused, PlatformUncertain, ValueError, KeyError, TypeError, AttributeError):
        return segment
    return {**segment, "data": {**data, **fields}}


async def _look_up(payload: Payload, kind: str, data: Payload, ask: LookupFunction) -> Payload:
    match kind:
        case "reply":
            quoted = await ask("get_msg", {"message_id": _number(data["id"])})
            segments = _without_quotes(segments_of(quoted.get("message", [])))
            [filled] = await _with_files(payload, [segments], ask)
            return {"quoted": {**quoted, "message": filled}}
        case "forward":
            answer = await ask("get_forward_msg", {"id": data["id"], "message_id": data["id"]})
            return {"content": await _nodes(payload, answer.get("messages", answer.get("message")), ask)}
        case "file":
            return _file_fields(await _file(payload, data, ask))
        case "record":
            return _file_fields(await ask("get_record", {"file": data["file"], "out_format": "mp3"}))
    return _file_fields(await ask("get_image" if kind == "image" else "get_file", {"file": data["file"]}))


async def _nodes(payload: Payload, nodes: Any, ask: LookupFunction) -> Any:
    """Completes the messages of a merged forward by looking up the addresses of their files."""
    if not isinstance(nodes, list):
        return nodes
    filled = await _with_files(payload, [_node_segments(node) for node in nodes], ask)
    return [_with_segments(node, segments) for node, segments in zip(nodes, filled, strict=True)]


def _node_segments(node: Any) -> list[Any]:
    data = _node_data(node)
    return segments_of(data[_field(data)]) if _field(data) else []


def _with_segments(node: Any, segments: list[Any]) -> Any:
    data = _node_data(node)
    if not _field(data):
        return node
    filled = {**data, _field(data): segments}
    return filled if data is node else {**node, "data": filled}


def _node_data(node: Any) -> Any:
    return node["data"] if isinstance(node, dict) and isinstance(node.get("data"), dict) else node


def _field(data: Any) -> str:
    return next((name for name in ("message", "content") if isinstance(data, dict) and name in data), "")


async def _with_files(payload: Payload, messages: list[list[Any]], ask: LookupFunction) -> list[list[Any]]:
    references = [each for message in messages for each in message if _is_reference(each) and each["type"] in MEDIA][
        :MAX_LOOKUPS
    ]
    answers = await asyncio.gather(*(_in_time(payload, each, ask) for each in references))
    answers_by_id = {id(each): answer for each, answer in zip(references, answers, strict=True)}
    return [[answers_by_id.get(id(each), each) for each in message] for message in messages]


async def _in_time(payload: Payload, segment: dict[str, Any], ask: LookupFunction) -> dict[str, Any]:
    try:
        async with asyncio.timeout(FILE_TIMEOUT_SECONDS):
            return await _complete(payload, segment, ask)
    except TimeoutError:
        return segment


async def _file(payload: Payload, data: Payload, ask: LookupFunction) -> Any:
    file_id = data.get("file_id") or data["file"]
    if payload.get("message_type") == "group":
        return await ask("get_group_file_url", {"group_id": payload["group_id"], "file_id": file_id})
    return await ask("get_private_file_url", {"user_id": payload.get("user_id"), "file_id": file_id})


def _file_fields(answer: Any) -> Payload:
    return {name: answer[name] for name in ("url", "base64") if answer.get(name)}


def _without_quotes(segments: list[Any]) -> list[Any]:
    """Removes the quotes of a quoted message, which are not looked up."""
    return [each for each in segments if not isinstance(each, dict) or each.get("type") != "reply"]


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, str) and value.lstrip("-").isdecimal() else value
