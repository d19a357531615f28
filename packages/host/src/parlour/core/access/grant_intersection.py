"""Intersects the grant of a run with that of its creator: a creator can't hand on rights that it does not have."""

from collections.abc import Set
from dataclasses import replace

from parlour_sdk.protocol.manifest import Permissions, PluginPermissions
from parlour_sdk.protocol.rules.permissions import API_PERMISSIONS

from .grants import Grant, Operations

CONVERSATION_PERMISSION_KEYS: Set[str] = {"history", "events", "artifacts"}
"""Permissions that concern the run's own conversation. Outside a run there is no conversation to have rights in, and
the conversation of a run that is created there belongs to its creator."""
RUN_PERMISSION_KEYS: Set[str] = frozenset(Permissions.model_fields)
"""Permission keys that are intersected if the creator is a run."""
PLUGIN_PERMISSION_KEYS: Set[str] = (
    frozenset(PluginPermissions.model_fields) | RUN_PERMISSION_KEYS
) - CONVERSATION_PERMISSION_KEYS
"""Permission keys that are intersected if the creator is a plugin outside a run."""


def intersect_grants(grant: Grant, creator: Grant, within_a_run: bool) -> Grant:
    """Returns the grant without everything that the creator does not have itself."""
    keys = RUN_PERMISSION_KEYS if within_a_run else PLUGIN_PERMISSION_KEYS
    permissions = frozenset(each for each in grant.permissions if each[0] not in keys or each in creator.permissions)
    storage = {area: owner for area, owner in grant.storage.items() if area in creator.storage}
    actions = tuple(each for each in grant.actions if creator.allows_action(each))
    removed_apis = {api for api, permission in API_PERMISSIONS.items() if permission not in permissions}
    removed_apis |= set() if storage else {"storage"}
    removed_apis |= set() if actions else {"platform_action"}
    return replace(
        grant,
        permissions=permissions,
        apis=grant.apis - removed_apis,
        resources={kind: _common_operations(kind, names, creator) for kind, names in grant.resources.items()},
        storage=storage,
        actions=actions,
        other_conversations=grant.other_conversations and creator.other_conversations,
    )


def _common_operations(kind: str, names: Operations, creator: Grant) -> Operations:
    allowed = {
        name: frozenset(each for each in operations if _may_use(creator, kind, name, each))
        for name, operations in names.items()
    }
    return {name: operations for name, operations in allowed.items() if operations}


def _may_use(creator: Grant, kind: str, name: str, operation: str) -> bool:
    return creator.has((kind, operation)) and creator.allows(kind, name, operation)
