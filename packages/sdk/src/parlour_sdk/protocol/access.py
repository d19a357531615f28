"""The access table: for each Host action the permission, resource, scope and maximum size that a gate enforces."""

from typing import Literal

from pydantic import BaseModel

from ..values import dataclass
from .limits import (
    ARTIFACT_CHUNK_BYTES,
    INLINE_BINARY_BYTES,
    RESULT_BYTES,
    STATE_VALUE_BYTES,
    STORAGE_VALUE_BYTES,
)
from .wire_actions import HOST_ACTIONS, HostAction

Permission = tuple[str, str]
"""A key and a literal of a manifest: `("models", "invoke")`."""
Scope = Literal["", "state", "storage", "conversation"]
"""The part of a request that must belong to the caller: a state scope, a storage area or a conversation."""


def literals(permissions: BaseModel) -> frozenset[Permission]:
    """Returns the single permissions that a runner's or plugin's manifest asks for."""
    return frozenset((key, literal) for key, listed in permissions if isinstance(listed, list) for literal in listed)


KIBIBYTE = 1024
_PROMPT_BYTES = 1900 * KIBIBYTE  # below the frame limit of 2 MiB
_BASE64 = 4 / 3


@dataclass(frozen=True, slots=True)
class Action:
    wire: HostAction
    permission: Permission | None = None
    """The permission that the caller needs; None if every caller may make the call."""
    api: str = ""
    """The entry of `available_apis` that a run needs."""
    resource: tuple[str, str] | None = None
    """The kind of resource and the request's field that names it; the operation is the permission's literal."""
    scope: Scope = ""
    max_bytes: int = 16 * KIBIBYTE

    @property
    def name(self) -> str:
        return self.wire.name


def _row(
    name: str,
    permission: str = "",
    *,
    api: str = "",
    resource: tuple[str, str] | None = None,
    scope: Scope = "",
    max_bytes: float = 16 * KIBIBYTE,
) -> Action:
    key, _, literal = permission.partition(":")
    return Action(HOST_ACTIONS[name], (key, literal) if key else None, api, resource, scope, int(max_bytes))


_MODEL, _TOOL, _BASE = ("models", "model_id"), ("tools", "tool_name"), ("knowledge_bases", "kb_id")
_SKILL, _FILE = ("skills", "skill_name"), ("files", "file_key")

ACTIONS: dict[str, Action] = {
    action.name: action
    for action in (
        _row("invoke_llm", "models:invoke", resource=_MODEL, max_bytes=_PROMPT_BYTES),
        _row("invoke_llm_stream", "models:stream", resource=_MODEL, max_bytes=_PROMPT_BYTES),
        _row("invoke_rerank", "models:rerank", resource=_MODEL, max_bytes=_PROMPT_BYTES),
        _row("invoke_embedding", "models:embed", resource=_MODEL, max_bytes=_PROMPT_BYTES),
        _row("get_tool_detail", "tools:detail", resource=_TOOL),
        _row("call_tool", "tools:call", resource=_TOOL, max_bytes=RESULT_BYTES),
        _row("list_knowledge", "knowledge_bases:list"),
        _row("retrieve_knowledge", "knowledge_bases:retrieve", resource=_BASE, max_bytes=64 * KIBIBYTE),
        _row("list_skills", "skills:list"),
        _row("activate_skill", "skills:activate", resource=_SKILL),
        _row("history_page", "history:page", api="history_page", scope="conversation"),
        _row("history_search", "history:search", api="history_search", scope="conversation"),
        _row("event_get", "events:get", api="event_get"),
        _row("event_page", "events:page", api="event_page"),
        _row("steering_pull", api="steering_pull"),
        _row("artifact_metadata", "artifacts:metadata", api="artifact_metadata"),
        _row("artifact_read", "artifacts:read", api="artifact_read"),
        _row(
            "artifact_create",
            "artifacts:create",
            api="artifact_create",
            max_bytes=ARTIFACT_CHUNK_BYTES * _BASE64 + 16 * KIBIBYTE,
        ),
        _row("state_get", api="state", scope="state"),
        _row("state_set", api="state", scope="state", max_bytes=STATE_VALUE_BYTES + KIBIBYTE),
        _row("state_delete", api="state", scope="state"),
        _row("state_list", api="state", scope="state"),
        _row("storage_get", scope="storage"),
        _row("storage_set", scope="storage", max_bytes=STORAGE_VALUE_BYTES * _BASE64 + 16 * KIBIBYTE),
        _row("storage_delete", scope="storage"),
        _row("storage_list", scope="storage"),
        _row("get_file", "files:config", resource=_FILE),
        _row("platform_action", api="platform_action", max_bytes=RESULT_BYTES),
        _row("get_host_version"),
        _row("run_create", "agent_runs:create", max_bytes=RESULT_BYTES),
        _row("run_get", "agent_runs:read"),
        _row("run_list", "agent_runs:read"),
        _row("run_events_page", "agent_runs:read"),
        _row("run_cancel", "agent_runs:control"),
        _row("run_append_result", max_bytes=_PROMPT_BYTES),
        _row("run_finalize", max_bytes=64 * KIBIBYTE),
        _row("run_retry", "agent_runs:control"),
        _row("runtime_register", "runtimes:admin", max_bytes=64 * KIBIBYTE),
        _row("runtime_heartbeat", "runtimes:admin"),
        _row("runtime_wakeups", "runtimes:admin"),
        _row("runtime_list", "runtimes:read"),
        _row("runtime_deregister", "runtimes:admin"),
        _row("run_claim", "runtimes:admin"),
        _row("run_renew", "runtimes:admin"),
        _row("run_release", "runtimes:admin"),
        _row("send_message", "platform_api:message.send", max_bytes=RESULT_BYTES),
        _row("reply_message", "platform_api:message.send", max_bytes=RESULT_BYTES),
        _row("edit_message", "platform_api:message.manage", max_bytes=RESULT_BYTES),
        _row("delete_message", "platform_api:message.manage"),
        _row("forward_message", "platform_api:message.manage"),
        _row("get_message", "platform_api:message.read"),
        _row("react", "platform_api:message.manage"),
        _row("get_group_info", "platform_api:group.read"),
        _row("get_group_list", "platform_api:group.read"),
        _row("get_group_member_list", "platform_api:group.read"),
        _row("get_group_member_info", "platform_api:group.read"),
        _row("set_group_name", "platform_api:group.manage"),
        _row("mute_member", "platform_api:member.moderate"),
        _row("unmute_member", "platform_api:member.moderate"),
        _row("kick_member", "platform_api:member.moderate"),
        _row("leave_group", "platform_api:group.manage"),
        _row("is_muted", "platform_api:group.read"),
        _row("get_user_info", "platform_api:user.read"),
        _row("get_friend_list", "platform_api:user.read"),
        _row("answer_friend_request", "platform_api:requests.answer"),
        _row("answer_group_invite", "platform_api:requests.answer"),
        _row("upload_file", "platform_api:media", max_bytes=1024 * KIBIBYTE * _BASE64 + INLINE_BINARY_BYTES),
        _row("get_file_url", "platform_api:media"),
        _row("send_typing", "platform_api:message.send"),
        _row("call_platform_api", "platform_api:platform.call", max_bytes=RESULT_BYTES),
        _row("list_bots"),
        _row("get_bot_capabilities"),
        _row("list_plugins"),
        _row("list_commands"),
        _row("list_tools", "tools:detail"),
        _row("start_conversation", "platform_api:message.manage"),
    )
}
