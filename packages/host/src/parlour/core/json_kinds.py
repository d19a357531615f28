"""Names the kind of a JSON value for error messages, which must not repeat the value since it may be secret."""

from typing import Any

_KIND_NAMES: tuple[tuple[tuple[type, ...], str], ...] = (
    ((bool,), "true or false"),
    ((int, float), "a number"),
    ((str,), "a text"),
    ((list,), "a list"),
    ((dict,), "an object"),
    ((type(None),), "null"),
)


def kind_name(value: Any) -> str:
    return next((name for kinds, name in _KIND_NAMES if isinstance(value, kinds)), "something else")
