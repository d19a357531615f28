"""Remembers in the plugin's process which models failed just now, and how large their context windows really are.

A runner keeps one `ModelHealth` for all its runs. It is lost with the process, and learned again.
"""

import re
import time
from collections.abc import Callable, Sequence

from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.protocol.resources import ModelResource

COOL_DOWN_SECONDS = 120.0
"""Seconds for which a model that failed is tried after the others."""
MAX_COOL_DOWN_SECONDS = 900.0
TOO_LONG = "context_too_long"
"""Error code of a prompt that exceeds the model's context window."""
RECOVERED_BY_WAITING = ("provider_failed", "provider_timeout", "provider_unreachable", "rate_limited", "stream_cut")
MAX_MODELS = 200
_WINDOW = re.compile(r"(?:maximum|max|limit|at most|context (?:size|length|window))[^\d]{0,60}(\d[\d,.]{2,9})", re.I)


class ModelHealth:
    """The state of models, by their ids."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._resting_until: dict[str, float] = {}
        self._windows: dict[str, int] = {}

    def in_order(self, models: Sequence[ModelResource]) -> list[ModelResource]:
        """Returns the models with those that failed just now at the end, and with their learned windows."""
        now = self._clock()
        resting = [each for each in models if self._resting_until.get(each.model_id, 0) > now]
        awake = [each for each in models if each not in resting]
        return [self._with_window(each) for each in (*awake, *resting)]

    def failed(self, model_id: str, error: AgentAPIException) -> None:
        """Notes that a model failed; a service that names a time is left alone for so long."""
        if error.code not in RECOVERED_BY_WAITING:
            return
        named = error.details.get("retry_after")
        seconds = float(named) if isinstance(named, int | float) and named > 0 else COOL_DOWN_SECONDS
        self._trim(self._resting_until)
        self._resting_until[model_id] = self._clock() + min(seconds, MAX_COOL_DOWN_SECONDS)

    def answered(self, model_id: str) -> None:
        """Notes that a model works."""
        self._resting_until.pop(model_id, None)

    def learn_window(self, model_id: str, tokens: int) -> None:
        """Notes the size of a model's context window; only a smaller one replaces what is known."""
        self._trim(self._windows)
        self._windows[model_id] = min(tokens, self._windows.get(model_id, tokens))

    def _with_window(self, model: ModelResource) -> ModelResource:
        learned = self._windows.get(model.model_id)
        if learned is None or (model.context_window or learned + 1) <= learned:
            return model
        return model.model_copy(update={"context_window": learned})

    def _trim(self, values: "dict[str, float] | dict[str, int]") -> None:
        if len(values) >= MAX_MODELS:
            values.clear()


def window_in(message: str) -> int | None:
    """Returns the context window that a service names in its refusal; None if it names none."""
    numbers = [int(re.sub(r"\D", "", match)) for match in _WINDOW.findall(message)]
    return min((each for each in numbers if 256 <= each <= 10_000_000), default=None)
