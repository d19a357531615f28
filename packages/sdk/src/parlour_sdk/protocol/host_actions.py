"""Defines the table of Host actions: one row for each call that a plugin may make to the Host.

The Host's gate and handlers, the fake Host of tests and the generated documents read it. The clients in
`parlour_sdk.api` name the same entities without loading the table, since it imports the whole protocol, which a
plugin's process does not need; a test compares them with the rows.
"""

from functools import partial
from typing import Literal

from pydantic import BaseModel

from ..values import dataclass
from . import (
    artifacts,
    files,
    gateway,
    history,
    knowledge,
    listing,
    live_permissions,
    models,
    platform_api,
    processes,
    runs,
    runtimes,
    vectors,
)
from .actions import ActionOutcome, RequestAction
from .calls import Call, Done
from .event_log import EventGet, EventPage, EventPageGet, EventRecord
from .host import HostVersion, HostVersionGet, PluginConfig, PluginConfigGet
from .limits import (
    ARTIFACT_CHUNK_BYTES,
    INLINE_BINARY_BYTES,
    RESULT_BYTES,
    STATE_VALUE_BYTES,
    STORAGE_VALUE_BYTES,
)
from .people import Group, GroupMember, User
from .skills import ActivateSkill, ActiveSkill, ListSkills, SkillList
from .state import StateDelete, StateGet, StateKeys, StateList, StateSet, StateValue
from .steering import SteeringPull, SteeringPullResult
from .storage import StorageDelete, StorageGet, StorageKeys, StorageList, StorageSet, StorageValue
from .tools import CallTool, GetTool, ToolDetail, ToolOutcome

Where = Literal["run", "either", "plugin"]
"""The place of a call: inside a run only, inside or outside one, or outside only."""
Permission = tuple[str, str]
"""A key and a literal of a manifest: `("models", "invoke")`."""
Scope = Literal["", "state", "storage", "conversation"]
"""The part of a request that must belong to the caller: a state scope, a storage area or a conversation."""
DryRun = Literal["execute", "copy", "record", "check_tool", "refuse"]
"""The treatment of a call in a rerun: it is executed, works on a private copy, is only recorded, is executed if its
tool is allowed, or is refused."""
Effect = tuple[DryRun, bool]
"""The treatment in a rerun, and whether a repeated run gets the recorded answer."""
KIBIBYTE = 1024
DEFAULT_BYTES = 16 * KIBIBYTE
_PROMPT_BYTES = 1900 * KIBIBYTE  # below the frame limit of 2 MiB
_BASE64 = 4 / 3


@dataclass(frozen=True, slots=True)
class HostAction:
    """A call of a plugin to the Host, with everything that the two sides need to know about it."""

    name: str
    request: type[Call]
    answer: type[BaseModel]
    where: Where = "run"
    streams: bool = False
    permission: Permission | None = None
    """The permission that the caller needs; None if every caller may make the call."""
    api: str = ""
    """The entry of `available_apis` that a run needs."""
    resource: tuple[str, str] | None = None
    """The kind of resource and the request's field that names it; the operation is the permission's literal."""
    scope: Scope = ""
    max_bytes: int = DEFAULT_BYTES
    """Maximum size of the request as it was sent, in JSON."""
    dry_run: DryRun = "refuse"
    replayed: bool = False
    """True if a repeated run of an agent that records its calls gets the recorded answer."""
    since: str = "0.1"
    """The first release of the Host that has the action."""


def _row(
    name: str,
    request: type[Call],
    answer: type[BaseModel],
    permission: str = "",
    *,
    context: Where,
    streams: bool = False,
    api: str = "",
    resource: tuple[str, str] | None = None,
    scope: Scope = "",
    max_bytes: float = DEFAULT_BYTES,
    effect: Effect = ("refuse", False),
) -> HostAction:
    key, _, literal = permission.partition(":")
    required = (key, literal) if key else None
    return HostAction(name, request, answer, context, streams, required, api, resource, scope, int(max_bytes), *effect)


_MODEL, _TOOL, _BASE = ("models", "model_id"), ("tools", "tool_name"), ("knowledge_bases", "kb_id")
_SKILL, _FILE = ("skills", "skill_name"), ("files", "file_key")
_READ: Effect = ("execute", True)
_LIVE: Effect = ("execute", False)
_COPY: Effect = ("copy", True)
_RECORD: Effect = ("record", False)
_TOOL_CALL: Effect = ("check_tool", True)

_in_run, _either, _outside = (
    partial(_row, context="run"),
    partial(_row, context="either"),
    partial(_row, context="plugin"),
)
_vectors = partial(_row, context="plugin", permission="storage:plugin", effect=_LIVE)
_model_call = partial(_row, context="either", resource=_MODEL, max_bytes=_PROMPT_BYTES, effect=_READ)
_state = partial(_row, context="run", api="state", scope="state", effect=_COPY)
_storage = partial(_row, context="either", scope="storage", effect=_COPY)

HOST_ACTIONS: dict[str, HostAction] = {
    action.name: action
    for action in (
        _model_call("invoke_llm", models.InvokeModel, models.ModelAnswer, "models:invoke"),
        _model_call("invoke_llm_stream", models.InvokeModel, models.ModelChunk, "models:stream", streams=True),
        _model_call("invoke_rerank", models.Rerank, models.RerankAnswer, "models:rerank"),
        _model_call("invoke_embedding", models.Embed, models.EmbedAnswer, "models:embed"),
        _either("list_models", models.ListModels, models.ModelList, "models:invoke", effect=_READ),
        _either("get_tool_detail", GetTool, ToolDetail, "tools:detail", resource=_TOOL, effect=_READ),
        _either(
            "call_tool", CallTool, ToolOutcome, "tools:call", resource=_TOOL, max_bytes=RESULT_BYTES, effect=_TOOL_CALL
        ),
        _either(
            "list_knowledge", knowledge.ListKnowledge, knowledge.KnowledgeList, "knowledge_bases:list", effect=_READ
        ),
        _either(
            "retrieve_knowledge",
            knowledge.RetrieveKnowledge,
            knowledge.KnowledgeResult,
            "knowledge_bases:retrieve",
            resource=_BASE,
            max_bytes=64 * KIBIBYTE,
            effect=_READ,
        ),
        _outside("get_knowledge_file", knowledge.GetKnowledgeFile, files.FileChunk, effect=_LIVE),
        _outside("invoke_parser", knowledge.InvokeParser, knowledge.ParsedFile, effect=_LIVE),
        _vectors("vector_upsert", vectors.VectorUpsert, Done, max_bytes=_PROMPT_BYTES),
        _vectors("vector_search", vectors.VectorSearch, vectors.FoundVectors, max_bytes=RESULT_BYTES),
        _vectors("vector_delete", vectors.VectorDelete, Done, max_bytes=RESULT_BYTES),
        _vectors("vector_list", vectors.VectorList, vectors.VectorPage),
        _in_run("list_skills", ListSkills, SkillList, "skills:list", effect=_READ),
        _in_run("activate_skill", ActivateSkill, ActiveSkill, "skills:activate", resource=_SKILL, effect=_READ),
        _in_run(
            "history_page",
            history.HistoryPageGet,
            history.HistoryPage,
            "history:page",
            api="history_page",
            scope="conversation",
            effect=_READ,
        ),
        _in_run(
            "history_search",
            history.HistorySearch,
            history.HistorySearchResult,
            "history:search",
            api="history_search",
            scope="conversation",
            effect=_READ,
        ),
        _in_run("event_get", EventGet, EventRecord, "events:get", api="event_get", effect=_READ),
        _in_run("event_page", EventPageGet, EventPage, "events:page", api="event_page", effect=_READ),
        _in_run("steering_pull", SteeringPull, SteeringPullResult, api="steering_pull", effect=_LIVE),
        _in_run(
            "artifact_metadata",
            artifacts.ArtifactMetadataGet,
            artifacts.ArtifactMetadata,
            "artifacts:metadata",
            api="artifact_metadata",
            effect=_LIVE,
        ),
        _in_run(
            "artifact_read",
            artifacts.ArtifactRead,
            artifacts.ArtifactChunk,
            "artifacts:read",
            api="artifact_read",
            effect=_LIVE,
        ),
        _in_run(
            "artifact_create",
            artifacts.ArtifactCreate,
            artifacts.ArtifactUpload,
            "artifacts:create",
            api="artifact_create",
            max_bytes=ARTIFACT_CHUNK_BYTES * _BASE64 + 16 * KIBIBYTE,
            effect=_LIVE,
        ),
        _state("state_get", StateGet, StateValue),
        _state("state_set", StateSet, Done, max_bytes=STATE_VALUE_BYTES + KIBIBYTE),
        _state("state_delete", StateDelete, Done),
        _state("state_list", StateList, StateKeys),
        _storage("storage_get", StorageGet, StorageValue),
        _storage("storage_set", StorageSet, Done, max_bytes=STORAGE_VALUE_BYTES * _BASE64 + 16 * KIBIBYTE),
        _storage("storage_delete", StorageDelete, Done),
        _storage("storage_list", StorageList, StorageKeys),
        _in_run("get_file", files.GetFile, files.FileChunk, "files:config", resource=_FILE, effect=_READ),
        _in_run(
            "platform_action",
            RequestAction,
            ActionOutcome,
            api="platform_action",
            max_bytes=RESULT_BYTES,
            effect=_RECORD,
        ),
        _in_run(
            "ask_permission",
            live_permissions.AskPermission,
            live_permissions.PermissionAnswer,
            streams=True,
            api="platform_action",
            max_bytes=RESULT_BYTES,
            effect=("refuse", False),
        ),
        _in_run("gateway_open", gateway.GatewayOpen, gateway.GatewayAccess),
        _either("get_host_version", HostVersionGet, HostVersion, effect=_LIVE),
        _either("get_plugin_config", PluginConfigGet, PluginConfig, effect=_LIVE),
        _either("run_create", runs.RunCreate, runs.AgentRun, "agent_runs:create", max_bytes=RESULT_BYTES),
        _either("run_get", runs.RunGet, runs.AgentRun, "agent_runs:read", effect=_LIVE),
        _either("run_list", runs.RunList, runs.RunPage, "agent_runs:read", effect=_LIVE),
        _either("run_events_page", runs.RunEventsPageGet, runs.RunEventsPage, "agent_runs:read", effect=_LIVE),
        _either("run_cancel", runs.RunCancel, runs.AgentRun, "agent_runs:control"),
        _either("run_append_result", runs.RunAppendResult, Done, max_bytes=_PROMPT_BYTES),
        _either("run_finalize", runs.RunFinalize, runs.AgentRun, max_bytes=64 * KIBIBYTE),
        _either("run_retry", runs.RunRetry, runs.AgentRun, "agent_runs:control"),
        _outside(
            "runtime_register", runtimes.RuntimeRegister, runtimes.Runtime, "runtimes:admin", max_bytes=64 * KIBIBYTE
        ),
        _outside("runtime_heartbeat", runtimes.RuntimeHeartbeat, runtimes.Runtime, "runtimes:admin"),
        _outside("runtime_wakeups", runtimes.RuntimeWakeups, runtimes.Wakeup, "runtimes:admin", streams=True),
        _either("runtime_list", runtimes.RuntimeList, runtimes.RuntimePage, "runtimes:read", effect=_LIVE),
        _outside("runtime_deregister", runtimes.RuntimeDeregister, Done, "runtimes:admin"),
        _outside("run_claim", runs.RunClaim, runs.ClaimResult, "runtimes:admin"),
        _outside("run_renew", runs.RunRenew, runs.LeaseRenewed, "runtimes:admin"),
        _outside("run_release", runs.RunRelease, Done, "runtimes:admin"),
        _outside(
            "send_message",
            platform_api.SendMessage,
            platform_api.MessageResult,
            "platform_api:message.send",
            max_bytes=RESULT_BYTES,
        ),
        _outside(
            "reply_message",
            platform_api.ReplyMessage,
            platform_api.MessageResult,
            "platform_api:message.send",
            max_bytes=RESULT_BYTES,
        ),
        _outside("edit_message", platform_api.EditMessage, Done, "platform_api:message.manage", max_bytes=RESULT_BYTES),
        _outside("delete_message", platform_api.DeleteMessage, Done, "platform_api:message.manage"),
        _outside(
            "forward_message", platform_api.ForwardMessage, platform_api.MessageResult, "platform_api:message.manage"
        ),
        _outside("get_message", platform_api.GetMessage, platform_api.PlatformMessage, "platform_api:message.read"),
        _outside("react", platform_api.React, Done, "platform_api:message.manage"),
        _outside("get_group_info", platform_api.GetGroupInfo, Group, "platform_api:group.read"),
        _outside("get_group_list", platform_api.GetGroupList, platform_api.GroupList, "platform_api:group.read"),
        _outside(
            "get_group_member_list", platform_api.GetGroupMemberList, platform_api.MemberList, "platform_api:group.read"
        ),
        _outside("get_group_member_info", platform_api.GetGroupMemberInfo, GroupMember, "platform_api:group.read"),
        _outside("set_group_name", platform_api.SetGroupName, Done, "platform_api:group.manage"),
        _outside("mute_member", platform_api.MuteMember, Done, "platform_api:member.moderate"),
        _outside("unmute_member", platform_api.UnmuteMember, Done, "platform_api:member.moderate"),
        _outside("kick_member", platform_api.KickMember, Done, "platform_api:member.moderate"),
        _outside("leave_group", platform_api.LeaveGroup, Done, "platform_api:group.manage"),
        _outside("is_muted", platform_api.IsMuted, platform_api.MutedState, "platform_api:group.read"),
        _outside("get_user_info", platform_api.GetUserInfo, User, "platform_api:user.read"),
        _outside("get_friend_list", platform_api.GetFriendList, platform_api.FriendList, "platform_api:user.read"),
        _outside("answer_friend_request", platform_api.AnswerFriendRequest, Done, "platform_api:requests.answer"),
        _outside("answer_group_invite", platform_api.AnswerGroupInvite, Done, "platform_api:requests.answer"),
        _outside(
            "upload_file",
            platform_api.UploadFile,
            platform_api.UploadedFile,
            "platform_api:media",
            max_bytes=1024 * KIBIBYTE * _BASE64 + INLINE_BINARY_BYTES,
        ),
        _outside("get_file_url", platform_api.GetFileUrl, platform_api.FileUrl, "platform_api:media"),
        _outside("send_typing", platform_api.SendTyping, Done, "platform_api:message.send"),
        _outside(
            "call_platform_api",
            platform_api.CallPlatformApi,
            platform_api.PlatformAnswer,
            "platform_api:platform.call",
            max_bytes=RESULT_BYTES,
        ),
        _outside("list_bots", listing.ListBots, listing.BotList),
        _outside("get_bot_capabilities", listing.GetBotCapabilities, listing.BotCapabilities),
        _outside("list_plugins", listing.ListPlugins, listing.PluginList),
        _outside("list_commands", listing.ListCommands, listing.CommandList),
        _outside("list_tools", listing.ListTools, listing.ToolList, "tools:detail"),
        _outside(
            "process_start",
            processes.ProcessStart,
            processes.ProcessOutput,
            "processes:start",
            streams=True,
            max_bytes=_PROMPT_BYTES,
        ),
        _outside("process_write", processes.ProcessWrite, Done, "processes:start", max_bytes=_PROMPT_BYTES),
        _outside(
            "start_conversation", listing.StartConversation, listing.ConversationStarted, "platform_api:message.manage"
        ),
    )
}
