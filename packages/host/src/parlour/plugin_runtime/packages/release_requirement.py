"""Compares the release that a plugin requires with this one, and computes the requirement from what the plugin uses."""

import re
from collections.abc import Iterable, Mapping

from parlour_sdk.plugin import PluginDefinition, PluginInvalid
from parlour_sdk.protocol.host_actions import HOST_ACTIONS, HostAction
from parlour_sdk.protocol.manifest import PluginRequirements

REQUIREMENT = re.compile(r">=\s*\d{1,4}(\.\d{1,4}){0,2}")
Permissions = Mapping[str, Iterable[object]]


def check_release(requires: PluginRequirements, version: str) -> None:
    """Raises PluginInvalid if the plugin requires a newer release than this one, or if that can't be read."""
    if not requires.parlour:
        return
    if not REQUIREMENT.fullmatch(requires.parlour):
        raise PluginInvalid(
            "manifest.yaml: spec.requires.parlour is no requirement; write the oldest release that the plugin runs on, "
            'such as ">=0.1"'
        )
    needed = requires.parlour.removeprefix(">=").strip()
    if release_number(needed) > release_number(version):
        raise PluginInvalid(
            f"manifest.yaml: spec.requires.parlour: the plugin needs Parlour {needed} or newer, and this is {version}; "
            "update Parlour, or install an older version of the plugin"
        )


def required_release(plugin: PluginDefinition, actions: Iterable[HostAction] = HOST_ACTIONS.values()) -> str:
    """Returns the requirement that covers all actions that the plugin's permissions name, such as `>=0.1`."""
    sources: list[Permissions] = [plugin.manifest.spec.permissions.model_dump()]
    sources += [component.manifest.spec.get("permissions") or {} for component in plugin.components]
    named = {
        (key, literal)
        for permissions in sources
        for key, literals in permissions.items()
        for literal in literals
        if isinstance(literal, str)
    }
    oldest = max(
        (action.since for action in actions if action.permission is None or action.permission in named),
        key=release_number,
    )
    return f">={oldest}"


def release_number(version: str) -> tuple[int, ...]:
    """Returns the numbers of a version for comparison; `0.1` equals `0.1.0`, and a suffix does not count."""
    numbers = [int(part) if part.isdigit() else 0 for part in version.split(".")[:3]]
    return tuple(numbers + [0] * (3 - len(numbers)))
