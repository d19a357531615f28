"""Provides a caller that records requests and gives the answers of the test, or the smallest valid answer."""

from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from parlour_sdk.protocol.host_actions import HOST_ACTIONS

SIMPLE: dict[Any, Any] = {str: "text", int: 1, float: 1.0, bool: True, Any: None, list: [], dict: {}}


def smallest(model: type[BaseModel]) -> dict[str, Any]:
    """Returns the smallest object that the model accepts."""
    return {name: _value(each.annotation) for name, each in model.model_fields.items() if each.is_required()}


def _value(annotation: Any) -> Any:
    origin = get_origin(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return smallest(annotation)
    if origin is Literal:
        return get_args(annotation)[0]
    if origin in (Union, UnionType):
        return _value(get_args(annotation)[0])
    return SIMPLE[origin or annotation]


class RecordingCaller:
    """Records requests, and refuses those that are invalid for their action, as the Host would."""

    def __init__(self, **answers: Any) -> None:
        self.answers = answers
        self.requests: list[tuple[str, dict[str, Any], float | None]] = []
        self.streams: list[Parts] = []

    @property
    def actions(self) -> list[str]:
        return [action for action, _, _ in self.requests]

    def data(self, position: int = -1) -> dict[str, Any]:
        return self.requests[position][1]

    async def call(self, action: str, data: Any, timeout: float | None = None) -> Any:
        assert not HOST_ACTIONS[action].streams
        return self._answer(action, data, timeout)

    def stream(self, action: str, data: Any) -> "Parts":
        assert HOST_ACTIONS[action].streams
        self.streams.append(Parts(self._answer(action, data, None)))
        return self.streams[-1]

    def _answer(self, action: str, data: Any, timeout: float | None) -> Any:
        self.requests.append((action, data, timeout))
        HOST_ACTIONS[action].request.model_validate(data)
        answer = self.answers.get(action)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, list) and not HOST_ACTIONS[action].streams:
            return answer.pop(0)
        return smallest(HOST_ACTIONS[action].answer) if answer is None else answer


class Parts:
    """Yields the parts in order. An exception among them is raised when it is its turn."""

    def __init__(self, parts: Any) -> None:
        self._parts = iter(parts if isinstance(parts, list) else [parts])
        self.closed = False

    def __aiter__(self) -> "Parts":
        return self

    async def __anext__(self) -> Any:
        for part in self._parts:
            if isinstance(part, Exception):
                raise part
            return part() if callable(part) else part
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self.closed = True
