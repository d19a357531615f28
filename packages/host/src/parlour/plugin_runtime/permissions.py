"""Compares the permissions that a plugin asks for with those it was granted. They are enforced elsewhere."""

from collections.abc import Iterable, Mapping

from parlour_sdk.plugin import PluginInvalid
from parlour_sdk.protocol.manifest import PluginManifest, PluginPermissions
from parlour_sdk.protocol.rules import process_permissions

PermissionMap = Mapping[str, Iterable[str]]


def requested_permissions(manifest: PluginManifest) -> dict[str, list[str]]:
    """Returns the permissions that the manifest asks for, by key and without repeats.

    Keys without values are left out. Raises PluginInvalid if the declaration of a program is not valid.
    """
    for permission in manifest.spec.permissions.processes:
        if wrong := process_permissions.problem(permission):
            raise PluginInvalid(f"spec.permissions.processes: {permission.name[:40]}: {wrong}")
    return process_permissions.to_lists(manifest.spec.permissions)


def parse_permissions(items: Iterable[str], requested: PermissionMap) -> dict[str, list[str]]:
    """Returns the permissions that an operator names, each as `key` or `key:value`, among those that are asked for.

    A program may be named alone. What is granted is its whole declaration, so a later version that changes it asks
    again.
    """
    granted: dict[str, list[str]] = {}
    for item in items:
        key, _, value = item.strip().partition(":")
        offered = list(requested.get(key, ()))
        value = next(
            (each for each in offered if key == process_permissions.PROCESSES and each.startswith(f"{value}: ")), value
        )
        if not offered or (value and value not in offered):
            names = ", ".join(f"{name}:{each}" for name, values in requested.items() for each in values) or "nothing"
            raise PluginInvalid(f"'{item}' can't be granted: the plugin does not ask for it; it asks for {names}")
        granted.setdefault(key, []).extend([value] if value else offered)
    return intersect(granted, requested)


def intersect(granted: PermissionMap, requested: PermissionMap) -> dict[str, list[str]]:
    """Returns the granted permissions that are also asked for."""
    common = {key: [each for each in values if each in set(granted.get(key, ()))] for key, values in requested.items()}
    return {key: values for key, values in common.items() if values}


def missing(granted: PermissionMap, requested: PermissionMap) -> dict[str, list[str]]:
    """Returns the permissions that are asked for and not granted."""
    ungranted = {
        key: [each for each in values if each not in set(granted.get(key, ()))] for key, values in requested.items()
    }
    return {key: values for key, values in ungranted.items() if values}


def effective_permissions(granted: PermissionMap, requested: PermissionMap) -> PluginPermissions:
    return process_permissions.from_lists(intersect(granted, requested))
