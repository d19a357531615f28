"""Converts the contents of messages to AI bots into chains. Pure: files are already fetched."""

import re
from typing import Any

from parlour.platforms._kit.payloads import Payload, object_in, objects_in, text
from parlour.platforms._kit.wechat_content import FILE_KINDS, file_component, place_component
from parlour_sdk.protocol.chain import At, Component, Plain, Quote, Unknown

from .entities import NAME

FILES_KEY = "fetched_files"
"""Key under which the contents of files are added to a message, by their addresses."""
MAX_ITEMS = 100


def content(body: Payload, bot_id: str, robot_name: str) -> list[Component]:
    """Returns the components of a message, with the quoted message first."""
    files = object_in(body, FILES_KEY)
    chain = _parts(body, files)
    if body.get("chattype") == "group":
        chain = _with_mention(chain, bot_id, robot_name)
    quoted = object_in(body, "quote")
    return [Quote(origin=_parts(quoted, None)), *chain] if quoted else chain


def file_items(body: Payload) -> list[tuple[str, Payload]]:
    """Returns kind and item of each file in a message. Those of a quoted message are only named."""
    parts = (body, *objects_in(object_in(body, "mixed"), "msg_item")[:MAX_ITEMS])
    items = [(text(part, "msgtype"), object_in(part, text(part, "msgtype"))) for part in parts]
    return [(kind, item) for kind, item in items if kind in FILE_KINDS and text(item, "url")]


def _parts(body: Payload, files: Payload | None) -> list[Component]:
    """Returns the components of a message; without the contents of files for a quoted one."""
    kind = text(body, "msgtype")
    if kind == "mixed":
        items = objects_in(object_in(body, "mixed"), "msg_item")[:MAX_ITEMS]
        return [component for item in items for component in _parts(item, files)]
    own = object_in(body, kind)
    if kind in ("text", "voice", "markdown"):
        return [Plain(text=_required(own, "content"))]
    if kind in FILE_KINDS and files is None:
        return [Unknown(text=f"[{kind}]")]
    if kind in FILE_KINDS:
        return [file_component(kind, object_in(files or {}, text(own, "url")))]
    if kind == "link":
        return [place_component(NAME, "link", own, text(own, "title"), text(own, "desc"), text(own, "url"))]
    return [Unknown(text=f"[a message of the kind {kind[:60] or 'none'}, which can't be read]")]


def _with_mention(chain: list[Component], bot_id: str, robot_name: str) -> list[Component]:
    """Returns a chain in which the bot's name is a mention. WeCom reports mentions as text."""
    pattern = re.compile(rf"@{re.escape(robot_name)}(?=\s|$)") if robot_name else None
    found: list[Component] = []
    for component in chain:
        match = pattern.search(component.text) if pattern and isinstance(component, Plain) else None
        if match is None or not isinstance(component, Plain):
            found.append(component)
            continue
        before, behind = component.text[: match.start()], component.text[match.end() :].removeprefix(" ")
        parts: list[Any] = [Plain(text=before), At(target=bot_id, display=robot_name), Plain(text=behind)]
        found += [part for part in parts if not isinstance(part, Plain) or part.text]
    return found


def _required(data: Payload, name: str) -> str:
    value = data.get(name)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} is missing")
    return value
