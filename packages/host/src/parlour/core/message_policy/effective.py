"""Reads the message policy that is in effect for an agent. Without one, nothing is loaded and nothing is decided."""

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from parlour.core.encoding import dumps, loads

if TYPE_CHECKING:
    from .schema import MessagePolicy


MAX_RECENT = 256
_recent: dict[int, "tuple[Mapping[str, Any], MessagePolicy]"] = {}
"""Decoded policies by the identity of their fields, which agents keep until they are changed."""


def decode_policy(values: Mapping[str, Any]) -> "MessagePolicy | None":
    """Returns the policy with these fields; None if there are none. The fields are not changed afterwards."""
    if not values:
        return None
    found = _recent.get(id(values))
    if found is not None and found[0] is values:
        return found[1]
    if len(_recent) >= MAX_RECENT:
        _recent.clear()
    policy = _decode(dumps(dict(values)))
    _recent[id(values)] = values, policy
    return policy


def override_policy(values: Mapping[str, Any], override: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of a policy with those of a narrower one over them. A list is replaced as a whole."""
    merged = dict(values)
    for name, value in override.items():
        below = merged.get(name)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            value = override_policy(below, value)
        merged[name] = value
    return merged


@lru_cache(maxsize=1024)
def _decode(text: str) -> "MessagePolicy":
    from .schema import MessagePolicy

    return MessagePolicy.model_validate(loads(text))
