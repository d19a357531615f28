"""Whose each storage area is, by the name under which its values are kept."""


def owners(workspace_id: str, plugin_id: str, binding_id: str) -> dict[str, str]:
    """By area, for who acts for this plugin under this binding."""
    own = f"{workspace_id}:{plugin_id}"
    return {"plugin": own, "workspace": workspace_id, "binding": f"{own}:{binding_id}"}
