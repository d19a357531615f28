"""Checks requests as strictly as a real platform does: unknown and missing fields, types, lengths, used tokens."""

from collections.abc import Callable, Mapping
from typing import Any

FieldCheck = Callable[[Any], str]
"""Returns the problem of a value; empty if it is valid."""


class InvalidRequest(Exception):
    """Raised for a request that the platform rejects. Each simulator answers it in its platform's form."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field} {problem}")
        self.field = field
        self.problem = problem


def check_fields(
    body: Any, required: Mapping[str, FieldCheck], optional: Mapping[str, FieldCheck] | None = None
) -> dict[str, Any]:
    """Returns the body if it has the required fields and no unknown ones. Raises InvalidRequest."""
    if not isinstance(body, dict):
        raise InvalidRequest("body", "must be an object")
    known = {**required, **(optional or {})}
    for name in body:
        if name not in known:
            raise InvalidRequest(name, "is not known")
    for name in required:
        if name not in body:
            raise InvalidRequest(name, "is missing")
    for name, value in body.items():
        if problem := known[name](value):
            raise InvalidRequest(name, problem)
    return body


def text_field(max_length: int, min_length: int = 1) -> FieldCheck:
    """Makes the check of a text with this length in characters."""

    def problem(value: Any) -> str:
        if not isinstance(value, str):
            return "must be a text"
        if not min_length <= len(value) <= max_length:
            return f"must have {min_length} to {max_length} characters"
        return ""

    return problem


class SingleUseTokens:
    """Issues tokens that are accepted once, such as the reply token of a message."""

    def __init__(self) -> None:
        self._issued = 0
        self._unused: set[str] = set()

    def issue(self) -> str:
        self._issued += 1
        token = f"single-use-{self._issued}"
        self._unused.add(token)
        return token

    def use(self, token: Any) -> None:
        """Raises InvalidRequest if the token was never issued or was used before."""
        if token not in self._unused:
            raise InvalidRequest("token", "is unknown or was used")
        self._unused.remove(token)
