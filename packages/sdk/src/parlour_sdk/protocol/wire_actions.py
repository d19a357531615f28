"""Every action on the wire in both directions: its request, its answer, and whether it needs a run."""

from typing import Literal

from pydantic import BaseModel

from ..values import dataclass
from . import artifacts, components, files, handshake, history, knowledge, listing, models, platform_api, runs, runtimes
from .actions import ActionOutcome, RequestAction
from .calls import Call, Done
from .context import AgentRunRequest
from .event_log import EventGet, EventPage, EventPageGet, EventRecord
from .host import HostVersion, HostVersionGet
from .people import Group, GroupMember, User
from .results import AgentRunResult
from .skills import ActivateSkill, ActiveSkill, ListSkills, SkillList
from .state import StateDelete, StateGet, StateKeys, StateList, StateSet, StateValue
from .steering import SteeringPull, SteeringPullResult
from .storage import StorageDelete, StorageGet, StorageKeys, StorageList, StorageSet, StorageValue
from .tools import CallTool, GetTool, ToolDetail, ToolInvocation, ToolOutcome

Where = Literal["run", "either", "plugin"]


@dataclass(frozen=True, slots=True)
class HostAction:
    """A request of a plugin to the Host. `where`: inside a run only, inside or outside, or outside only."""

    name: str
    request: type[Call]
    answer: type[BaseModel]
    where: Where = "run"
    streams: bool = False


@dataclass(frozen=True, slots=True)
class PluginAction:
    """A request of the Host to a plugin."""

    name: str
    request: type[BaseModel] | None
    answer: type[BaseModel]
    streams: bool = False


HOST_ACTIONS: dict[str, HostAction] = {
    action.name: action
    for action in (
        HostAction("invoke_llm", models.InvokeModel, models.ModelAnswer, "either"),
        HostAction("invoke_llm_stream", models.InvokeModel, models.ModelChunk, "either", streams=True),
        HostAction("invoke_rerank", models.Rerank, models.RerankAnswer, "either"),
        HostAction("invoke_embedding", models.Embed, models.EmbedAnswer, "either"),
        HostAction("get_tool_detail", GetTool, ToolDetail, "either"),
        HostAction("call_tool", CallTool, ToolOutcome, "either"),
        HostAction("list_knowledge", knowledge.ListKnowledge, knowledge.KnowledgeList, "either"),
        HostAction("retrieve_knowledge", knowledge.RetrieveKnowledge, knowledge.KnowledgeResult, "either"),
        HostAction("list_skills", ListSkills, SkillList),
        HostAction("activate_skill", ActivateSkill, ActiveSkill),
        HostAction("history_page", history.HistoryPageGet, history.HistoryPage),
        HostAction("history_search", history.HistorySearch, history.HistorySearchResult),
        HostAction("event_get", EventGet, EventRecord),
        HostAction("event_page", EventPageGet, EventPage),
        HostAction("steering_pull", SteeringPull, SteeringPullResult),
        HostAction("artifact_metadata", artifacts.ArtifactMetadataGet, artifacts.ArtifactMetadata),
        HostAction("artifact_read", artifacts.ArtifactRead, artifacts.ArtifactChunk),
        HostAction("artifact_create", artifacts.ArtifactCreate, artifacts.ArtifactUpload),
        HostAction("state_get", StateGet, StateValue),
        HostAction("state_set", StateSet, Done),
        HostAction("state_delete", StateDelete, Done),
        HostAction("state_list", StateList, StateKeys),
        HostAction("storage_get", StorageGet, StorageValue, "either"),
        HostAction("storage_set", StorageSet, Done, "either"),
        HostAction("storage_delete", StorageDelete, Done, "either"),
        HostAction("storage_list", StorageList, StorageKeys, "either"),
        HostAction("get_file", files.GetFile, files.FileChunk),
        HostAction("platform_action", RequestAction, ActionOutcome),
        HostAction("get_host_version", HostVersionGet, HostVersion, "either"),
        HostAction("run_create", runs.RunCreate, runs.AgentRun, "either"),
        HostAction("run_get", runs.RunGet, runs.AgentRun, "either"),
        HostAction("run_list", runs.RunList, runs.RunPage, "either"),
        HostAction("run_events_page", runs.RunEventsPageGet, runs.RunEventsPage, "either"),
        HostAction("run_cancel", runs.RunCancel, runs.AgentRun, "either"),
        HostAction("run_append_result", runs.RunAppendResult, Done, "either"),
        HostAction("run_finalize", runs.RunFinalize, runs.AgentRun, "either"),
        HostAction("run_retry", runs.RunRetry, runs.AgentRun, "either"),
        HostAction("runtime_register", runtimes.RuntimeRegister, runtimes.Runtime, "plugin"),
        HostAction("runtime_heartbeat", runtimes.RuntimeHeartbeat, runtimes.Runtime, "plugin"),
        HostAction("runtime_wakeups", runtimes.RuntimeWakeups, runtimes.Wakeup, "plugin", streams=True),
        HostAction("runtime_list", runtimes.RuntimeList, runtimes.RuntimePage, "either"),
        HostAction("runtime_deregister", runtimes.RuntimeDeregister, Done, "plugin"),
        HostAction("run_claim", runs.RunClaim, runs.ClaimResult, "plugin"),
        HostAction("run_renew", runs.RunRenew, runs.LeaseRenewed, "plugin"),
        HostAction("run_release", runs.RunRelease, Done, "plugin"),
        HostAction("send_message", platform_api.SendMessage, platform_api.MessageResult, "plugin"),
        HostAction("reply_message", platform_api.ReplyMessage, platform_api.MessageResult, "plugin"),
        HostAction("edit_message", platform_api.EditMessage, Done, "plugin"),
        HostAction("delete_message", platform_api.DeleteMessage, Done, "plugin"),
        HostAction("forward_message", platform_api.ForwardMessage, platform_api.MessageResult, "plugin"),
        HostAction("get_message", platform_api.GetMessage, platform_api.PlatformMessage, "plugin"),
        HostAction("react", platform_api.React, Done, "plugin"),
        HostAction("get_group_info", platform_api.GetGroupInfo, Group, "plugin"),
        HostAction("get_group_list", platform_api.GetGroupList, platform_api.GroupList, "plugin"),
        HostAction("get_group_member_list", platform_api.GetGroupMemberList, platform_api.MemberList, "plugin"),
        HostAction("get_group_member_info", platform_api.GetGroupMemberInfo, GroupMember, "plugin"),
        HostAction("set_group_name", platform_api.SetGroupName, Done, "plugin"),
        HostAction("mute_member", platform_api.MuteMember, Done, "plugin"),
        HostAction("unmute_member", platform_api.UnmuteMember, Done, "plugin"),
        HostAction("kick_member", platform_api.KickMember, Done, "plugin"),
        HostAction("leave_group", platform_api.LeaveGroup, Done, "plugin"),
        HostAction("is_muted", platform_api.IsMuted, platform_api.MutedState, "plugin"),
        HostAction("get_user_info", platform_api.GetUserInfo, User, "plugin"),
        HostAction("get_friend_list", platform_api.GetFriendList, platform_api.FriendList, "plugin"),
        HostAction("answer_friend_request", platform_api.AnswerFriendRequest, Done, "plugin"),
        HostAction("answer_group_invite", platform_api.AnswerGroupInvite, Done, "plugin"),
        HostAction("upload_file", platform_api.UploadFile, platform_api.UploadedFile, "plugin"),
        HostAction("get_file_url", platform_api.GetFileUrl, platform_api.FileUrl, "plugin"),
        HostAction("send_typing", platform_api.SendTyping, Done, "plugin"),
        HostAction("call_platform_api", platform_api.CallPlatformApi, platform_api.PlatformAnswer, "plugin"),
        HostAction("list_bots", listing.ListBots, listing.BotList, "plugin"),
        HostAction("get_bot_capabilities", listing.GetBotCapabilities, listing.BotCapabilities, "plugin"),
        HostAction("list_plugins", listing.ListPlugins, listing.PluginList, "plugin"),
        HostAction("list_commands", listing.ListCommands, listing.CommandList, "plugin"),
        HostAction("list_tools", listing.ListTools, listing.ToolList, "plugin"),
        HostAction("start_conversation", listing.StartConversation, listing.ConversationStarted, "plugin"),
    )
}

PLUGIN_ACTIONS: dict[str, PluginAction] = {
    action.name: action
    for action in (
        PluginAction("list_components", None, components.ComponentList),
        PluginAction("list_agent_runners", None, components.RunnerList),
        PluginAction("run_agent", AgentRunRequest, AgentRunResult, streams=True),
        PluginAction("emit_event", components.EmitEvent, components.EventOutcome),
        PluginAction("call_tool", ToolInvocation, ToolOutcome),
        PluginAction("run_command", components.CommandInvocation, components.CommandReply, streams=True),
        PluginAction("kb_ingest", knowledge.KnowledgeIngest, knowledge.IngestOutcome),
        PluginAction("kb_retrieve", knowledge.KnowledgeRetrieve, knowledge.KnowledgeResult),
        PluginAction("kb_delete", knowledge.KnowledgeDelete, Done),
        PluginAction("parse_file", knowledge.ParseFile, knowledge.ParsedFile),
        PluginAction("shutdown", components.Shutdown, Done),
    )
}

HELLO = ("hello", handshake.Hello, handshake.Welcome)
"""Action of the first call on every connection."""
