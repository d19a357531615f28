"""Reads the buttons of a message, and packs action id and value into the one text that a platform returns."""

import json
from typing import Any

from parlour.core.encoding import dumps
from parlour.core.platforms.port import PlatformRefused
from parlour_sdk.values import dataclass

BUTTONS_COMPONENT = "buttons"
"""The type of the `Platform` component that has the buttons of a message."""


@dataclass(frozen=True, slots=True)
class Button:
    """A button below a message: it reports `action_id` and `value` when it is pressed, or opens `url`."""

    label: str
    action_id: str
    value: Any = None
    url: str = ""

    @property
    def data(self) -> str:
        """The text that the platform stores with the button and returns when it is pressed."""
        return self.action_id if self.value is None else f"{self.action_id}\n{dumps(self.value)}"


def read_buttons(data: dict[str, Any]) -> list[list[Button]]:
    """Returns the rows of buttons: one, or several if a list of lists is given. Raises PlatformRefused."""
    given = data.get("buttons")
    rows = given if isinstance(given, list) else []
    if not all(isinstance(row, list) for row in rows):
        rows = [rows]
    return [[_read_button(each) for each in row] for row in rows if row]


def require_short_data(button: Button, max_bytes: int, service: str) -> str:
    """Returns the data of a button. Raises PlatformRefused if it is longer than the platform stores."""
    if len(button.data.encode()) > max_bytes:
        reason = f"the button '{button.label[:40]}': action_id and value have at most {max_bytes} bytes on {service}"
        raise PlatformRefused(reason, permanent=True)
    return button.data


def parse_button_data(data: str) -> tuple[str, Any]:
    """Returns action id and value of a pressed button. Data of another program is an action id as a whole."""
    action_id, separator, encoded = data.partition("\n")
    if not separator:
        return action_id, None
    try:
        return action_id, json.loads(encoded)
    except ValueError:
        return data, None


def _read_button(button: Any) -> Button:
    if not isinstance(button, dict) or not isinstance(button.get("label"), str) or not button["label"]:
        raise PlatformRefused("a button is an object with a label, and an action_id or a url", permanent=True)
    url = button.get("url")
    action_id = str(button.get("action_id") or button["label"])
    return Button(button["label"], action_id, button.get("value"), url if isinstance(url, str) else "")
