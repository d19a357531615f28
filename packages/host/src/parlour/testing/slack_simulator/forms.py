"""Checks the parameters of calls about messages as strictly as Slack does, with its own error names."""

import json
from typing import Any

from .world import Json, SlackRefusal

MAX_TEXT, MAX_BLOCKS, MAX_SECTION, MAX_ELEMENTS = 40_000, 50, 3000, 25
MAX_ACTION_ID, MAX_VALUE, MAX_LABEL = 255, 2000, 75
BLOCKS = ("section", "actions", "divider", "header", "context", "image", "markdown", "rich_text")
POST = {
    "channel",
    "text",
    "blocks",
    "thread_ts",
    "reply_broadcast",
    "mrkdwn",
    "unfurl_links",
    "unfurl_media",
    "metadata",
}
PARAMETERS: dict[str, set[str]] = {
    "chat.postMessage": POST,
    "chat.update": {"channel", "ts", "text", "blocks"},
    "chat.delete": {"channel", "ts"},
    "chat.getPermalink": {"channel", "message_ts"},
    "reactions.add": {"channel", "timestamp", "name"},
    "reactions.remove": {"channel", "timestamp", "name"},
    "conversations.open": {"users", "return_im"},
    "conversations.info": {"channel", "include_num_members"},
    "conversations.members": {"channel", "limit", "cursor"},
    "conversations.rename": {"channel", "name"},
    "conversations.kick": {"channel", "user"},
    "conversations.leave": {"channel"},
    "conversations.history": {"channel", "latest", "oldest", "inclusive", "limit", "include_all_metadata", "cursor"},
    "conversations.replies": {
        "channel", "ts", "latest", "oldest", "inclusive", "limit", "include_all_metadata", "cursor",
    },
    "users.conversations": {"types", "exclude_archived", "limit", "cursor"},
    "users.info": {"user"},
    "files.getUploadURLExternal": {"filename", "length"},
    "files.completeUploadExternal": {"files", "channel_id", "thread_ts", "initial_comment"},
    "files.info": {"file"},
    "auth.test": set(),
    "apps.connections.open": set(),
}  # fmt: skip
"""The parameters of each call. Slack ignores others; this simulator refuses them, since they are mistakes."""


def check_parameters(method: str, params: Json) -> None:
    unknown = set(params) - PARAMETERS[method]
    if unknown:
        raise SlackRefusal("invalid_arguments", response_metadata={"messages": [f"unknown: {sorted(unknown)}"]})


def check_content(params: Json, needs_content: bool = True) -> list[Json]:
    """Returns the blocks of a message if Slack would accept it. Raises SlackRefusal."""
    text, blocks = str(params.get("text") or ""), read_list(params.get("blocks"), "blocks")
    if needs_content and not text.strip() and not blocks:
        raise SlackRefusal("no_text")
    if len(text) > MAX_TEXT:
        raise SlackRefusal("msg_too_long")
    if len(blocks) > MAX_BLOCKS:
        raise _invalid(f"no more than {MAX_BLOCKS} items allowed [json-pointer:/blocks]")
    seen: set[str] = set()
    for place, block in enumerate(blocks):
        _check_block(block, f"/blocks/{place}", seen)
    return blocks


def _check_block(block: Any, path: str, seen: set[str]) -> None:
    if not isinstance(block, dict) or block.get("type") not in BLOCKS:
        raise _invalid(f"unsupported type [json-pointer:{path}/type]")
    content = block.get("text") or {}
    shown = content.get("text", "") if isinstance(content, dict) else content
    limit = 150 if block["type"] == "header" else MAX_SECTION
    if block["type"] in ("section", "header") and not 1 <= len(shown) <= limit:
        raise _invalid(f"must be between 1 and {limit} characters [json-pointer:{path}/text/text]")
    if block["type"] != "actions":
        return
    elements = block.get("elements")
    if not isinstance(elements, list) or not 1 <= len(elements) <= MAX_ELEMENTS:
        raise _invalid(f"between 1 and {MAX_ELEMENTS} items are required [json-pointer:{path}/elements]")
    for number, element in enumerate(elements):
        _check_button(element, f"{path}/elements/{number}", seen)


def _check_button(element: Json, path: str, seen: set[str]) -> None:
    action_id = element.get("action_id")
    if not isinstance(action_id, str) or not 1 <= len(action_id) <= MAX_ACTION_ID or action_id in seen:
        raise _invalid(f"action_id must be unique and have 1 to {MAX_ACTION_ID} characters [json-pointer:{path}]")
    seen.add(action_id)
    if len(element.get("text", {}).get("text", "")) > MAX_LABEL:
        raise _invalid(f"must be less than {MAX_LABEL + 1} characters [json-pointer:{path}/text/text]")
    if len(element.get("value") or "") > MAX_VALUE:
        raise _invalid(f"must be less than {MAX_VALUE + 1} characters [json-pointer:{path}/value]")


def read_list(value: Any, name: str) -> list[Json]:
    """Returns a list that may be given as JSON in a form."""
    if isinstance(value, str) and value:
        try:
            value = json.loads(value)
        except ValueError:
            raise SlackRefusal(f"invalid_{name}_format") from None
    return value if isinstance(value, list) else []


def _invalid(message: str) -> SlackRefusal:
    return SlackRefusal("invalid_blocks", response_metadata={"messages": [f"[ERROR] {message}"]})
