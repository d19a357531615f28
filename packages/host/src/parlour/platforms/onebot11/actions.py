"""OneBot's own actions. Their parameters were checked against the manifest; ids may be texts and go out as numbers."""

from typing import Any

from parlour_sdk.protocol.platform_api import NotSupportedError

from .client import Connection
from .values import native_id

ACTIONS = (
    "get_login_info",
    "get_status",
    "get_version_info",
    "get_group_honor_info",
    "set_group_card",
    "set_group_special_title",
    "set_group_admin",
    "set_group_whole_ban",
    "set_group_add_request",
    "send_group_forward_msg",
    "get_forward_msg",
    "get_record",
    "get_image",
    "can_send_image",
    "can_send_record",
)
IDS = ("group_id", "user_id")


async def run_action(connection: Connection, action: str, params: dict[str, Any]) -> Any:
    if action not in ACTIONS:
        raise NotSupportedError(f"the action {action}")
    told = {name: native_id(name, str(value)) if name in IDS else value for name, value in params.items()}
    if action == "get_forward_msg":  # the standard says id, go-cqhttp and NapCat say message_id
        told["message_id"] = told.get("id")
    return await connection.call(action, told)
