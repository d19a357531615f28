"""Counts identical tool calls of a run: the model is warned at the third, and from the fifth on they are not made."""

import json

from parlour_sdk.protocol.messages import ToolCall

WARN_AT = 3
STOP_AT = 5
WARNING = (
    "(This is call number {count} with the same arguments, and the result will not change. Answer with what you have, "
    "or try something else.)"
)
REFUSAL = "This was not done: the same call was made {count} times already. Answer now, with what you have."


class RepeatedCalls:
    """The calls of one run, by name and arguments."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def count(self, call: ToolCall) -> int:
        """Counts a call, and returns how often it was made by now."""
        key = f"{call.name} {json.dumps(call.arguments, sort_keys=True, default=str)}"
        self._counts[key] = self._counts.get(key, 0) + 1
        return self._counts[key]

    @property
    def must_stop(self) -> bool:
        """True if a call was repeated so often that no more tools may be called."""
        return any(count >= STOP_AT for count in self._counts.values())
