"""Buttons under a message. What a press means travels in the 64 bytes that Telegram keeps with each button."""

import json
from typing import Any

from parlour.core.encoding import dumps
from parlour.core.platforms.port import PlatformRefused

from .values import Payload

COMPONENT = "buttons"
LONGEST_DATA = 64


def keyboard(data: Payload) -> Payload:
    """One row; a list of lists of buttons makes several."""
    told = data.get("buttons")
    rows = told if isinstance(told, list) else []
    if not all(isinstance(row, list) for row in rows):
        rows = [rows]
    return {"inline_keyboard": [[_button(each) for each in row] for row in rows]}


def _button(told: Any) -> Payload:
    if not isinstance(told, dict) or not isinstance(told.get("label"), str) or not told["label"]:
        raise PlatformRefused("a button is an object with a label, and an action_id or a url", permanent=True)
    if isinstance(told.get("url"), str):
        return {"text": told["label"], "url": told["url"]}
    data = _data(str(told.get("action_id") or told["label"]), told.get("value"))
    if len(data.encode()) > LONGEST_DATA:
        reason = f"the button '{told['label'][:40]}': action_id and value have at most {LONGEST_DATA} bytes on Telegram"
        raise PlatformRefused(reason, permanent=True)
    return {"text": told["label"], "callback_data": data}


def _data(action_id: str, value: Any) -> str:
    return action_id if value is None else f"{action_id}\n{dumps(value)}"


def pressed(data: str) -> tuple[str, Any]:
    """Action id and value. What another program made is an action id by itself."""
    action_id, separator, told = data.partition("\n")
    if not separator:
        return action_id, None
    try:
        return action_id, json.loads(told)
    except ValueError:
        return data, None
