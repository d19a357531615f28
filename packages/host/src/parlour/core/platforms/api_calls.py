"""Calls one method of the platform API by its wire name, with arguments as in a request and the response as plugins
receive it. Callers check permissions before.
"""

import base64
from typing import Any

from pydantic import BaseModel

from parlour.core.model.providers import ProviderFailed
from parlour.core.model.reply_allowance import ReplyHandle
from parlour_sdk.protocol.host_actions import HOST_ACTIONS
from parlour_sdk.protocol.platform_api import NotSupportedError

from .api import PlatformApi
from .port import PlatformRefused, PlatformUncertain

PLACEHOLDER_BOT_ID = "bot"
_THREADED = ("send_message", "send_typing")
_LISTS = {"get_group_list": "groups", "get_group_member_list": "members", "get_friend_list": "friends"}
_VALUES = {"is_muted": "muted", "get_file_url": "url", "call_platform_api": "result"}


async def call_api(
    api: PlatformApi,
    name: str,
    arguments: dict[str, Any],
    thread_id: str = "",
    reply: ReplyHandle | None = None,
) -> dict[str, Any]:
    """Calls a method. The Host sets `thread_id` for messages to a thread, and `reply` for a message that is a counted
    reply. Raises ProviderFailed with a message.
    """
    try:
        if reply is not None:
            parsed = _parse_arguments("send_message", arguments)
            return _to_response("send_message", await api.send_reply(reply, **parsed, thread_id=thread_id))
        return await perform(api, name, arguments, thread_id)
    except NotSupportedError as error:
        raise ProviderFailed(error.code, str(error)) from error
    except PlatformRefused as refusal:
        code = "rate_limited" if refusal.retry_after is not None else "runtime_error"
        raise ProviderFailed(code, f"the platform refused: {refusal.reason}", not refusal.permanent) from refusal
    except PlatformUncertain as unknown:
        raise ProviderFailed("runtime_error", f"the platform did not answer: {unknown}") from unknown


async def perform(api: PlatformApi, name: str, arguments: dict[str, Any], thread_id: str = "") -> dict[str, Any]:
    """Calls a method and lets the adapter's own errors pass."""
    thread = {"thread_id": thread_id} if thread_id and name in _THREADED else {}
    return _to_response(name, await getattr(api, name)(**_parse_arguments(name, arguments), **thread))


def _parse_arguments(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Parses the arguments: a chain into components, a file into bytes. All others stay as they are."""
    if name == "upload_file":  # the caller has joined the chunks of an upload
        return {"data": base64.b64decode(arguments["content_base64"]), "filename": arguments["filename"]}
    request = HOST_ACTIONS[name].request
    parsed = request.model_validate({"call_id": "call", "bot_id": PLACEHOLDER_BOT_ID, **arguments})
    own_fields = request.model_fields.keys() - {"call_id", "run_id", "bot_id", "lease"}
    return {field: getattr(parsed, field) for field in request.model_fields if field in own_fields}


def _to_response(name: str, result: Any) -> dict[str, Any]:
    if name in _LISTS:
        return {_LISTS[name]: [_to_plain(each) for each in result]}
    if name in _VALUES:
        return {_VALUES[name]: result}
    return _to_plain(result) if result is not None else {}


def _to_plain(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value
