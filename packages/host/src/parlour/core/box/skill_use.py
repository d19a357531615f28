"""Finds which skill a call to a tool of the Box refers to."""

import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from parlour.core.model.providers import ProviderFailed

SKILL_ROOT: Final = "/workspace/.skills"
NAMING_PARAMETERS: Final = ("command", "workdir", "path", "pattern")
_REFERENCE = re.compile(
    r"(?:^|[^\w.-])\.skills/+([A-Za-z0-9][A-Za-z0-9-]*)|/workspace/\.skills/+([A-Za-z0-9][A-Za-z0-9-]*)"
)


def used_skill(parameters: Mapping[str, Any], active: Collection[str]) -> str:
    """Returns the skill that a call refers to; empty if it refers to none.

    Raises ProviderFailed if the skill is not active, or if it refers to several.
    """
    texts = (str(parameters.get(name) or "") for name in NAMING_PARAMETERS)
    names: set[str] = {first or second for text in texts for first, second in _REFERENCE.findall(text)}
    if not names:
        return ""
    if len(names) > 1:
        message = f"one command may use one skill, and this one names {', '.join(sorted(names))}; use several commands"
        raise ProviderFailed("invalid_argument", message)
    name = names.pop()
    if name not in active:
        raise ProviderFailed("skill_not_active", f"the skill '{name}' is not active; activate it first")
    return name
