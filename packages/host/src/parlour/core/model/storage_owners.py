"""Builds the keys of the owners under which values of a storage area are stored."""


def storage_owners(workspace_id: str, plugin_id: str, binding_id: str) -> dict[str, str]:
    """Returns the owner key of each area, for a plugin that acts under a binding."""
    own = f"{workspace_id}:{plugin_id}"
    return {"plugin": own, "workspace": workspace_id, "binding": f"{own}:{binding_id}"}
