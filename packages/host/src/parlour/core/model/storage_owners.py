"""Builds the keys of the owners under which values of a storage area are stored."""

from .ids import BindingId, PluginId


def storage_owners(workspace_id: str, plugin_id: PluginId, binding_id: BindingId) -> dict[str, str]:
    """Returns the owner key of each area, for a plugin that acts under a binding."""
    plugin_owner = f"{workspace_id}:{plugin_id}"
    return {"plugin": plugin_owner, "workspace": workspace_id, "binding": f"{plugin_owner}:{binding_id}"}
