"""Encodes the buttons below a message. Their meaning is stored in the 64 bytes that Telegram keeps for each button."""

import json
from typing import Any

from parlour.core.encoding import dumps
from parlour.core.platforms.port import PlatformRefused

from .values import Payload

COMPONENT = "buttons"
MAX_DATA_BYTES = 64


def keyboard(data: Payload) -> Payload:
    """Builds the keyboard: one row, or several if a list of lists of buttons is given."""
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
    if len(data.encode()) > MAX_DATA_BYTES:
        reason = (
            f"the button '{told['label'][:40]}': action_id and value have at most {MAX_DATA_BYTES} bytes on Telegram"
        )
        raise PlatformRefused(reason, permanent=True)
    return {"text": told["label"], "callback_data": data}


def _data(action_id: str, value: Any) -> str:
    return action_id if value is None else f"{action_id}\n{dumps(value)}"


def parse_button_data(data: str) -> tuple[str, Any]:
    """Returns action id and value of a pressed button. Data of another program is an action id as a whole."""
    action_id, separator, told = data.partition("\n")
    if not separator:
        return action_id, None
    try:
        return action_id, json.loads(told)
    except ValueError:
        return data, None
