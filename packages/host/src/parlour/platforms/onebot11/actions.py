"""Runs OneBot's own actions.

Parameters were checked against the manifest; ids may be strings and are sent as numbers.
"""

from typing import Any

from parlour.core.platforms.port import PlatformRefused
from parlour_sdk.protocol.platform_api import NotSupportedError

from .connection import OneBotConnection
from .encode import FILE_FIELDS, check_address
from .payloads import native_id
from .segments import segments_of

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
ID_REFERENCE_SEGMENTS = ("node", "reply", "forward")
"""Segments that refer to a message by its id."""
ID_REFERENCE_REFUSED = (
    "messages: a message that is named by its id could be another chat's; send its words, or a chain with Forward"
)


async def run_action(connection: OneBotConnection, action: str, params: dict[str, Any]) -> Any:
    if action not in ACTIONS:
        raise NotSupportedError(f"the action {action}")
    native_params = {name: native_id(name, str(value)) if name in IDS else value for name, value in params.items()}
    if action == "send_group_forward_msg":
        _check_nodes(native_params["messages"])
    if action == "get_forward_msg":  # the standard names it id, go-cqhttp and NapCat name it message_id
        native_params["message_id"] = native_params.get("id")
    return await connection.call(action, native_params)


def _check_nodes(content: Any) -> None:
    """Refuses native segments whose content needs a permission that is checked only for chains; they have to be sent as
    a chain.
    """
    for segment in segments_of(content):
        data = segment.get("data") if isinstance(segment, dict) else None
        if not isinstance(data, dict):
            continue
        if segment.get("type") == "at" and str(data.get("qq")) == "all":
            raise PlatformRefused("messages: everybody is mentioned by a chain with AtAll, not here", permanent=True)
        if segment.get("type") in ID_REFERENCE_SEGMENTS and data.get("id"):
            raise PlatformRefused(ID_REFERENCE_REFUSED, permanent=True)
        for name in FILE_FIELDS & data.keys():
            check_address(str(data[name]))
        if isinstance(data.get("content"), list | str | dict):
            _check_nodes(data["content"])
