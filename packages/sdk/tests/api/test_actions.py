"""Tests that every action of the Host has one client method with a typed answer in each API that may call it."""

import asyncio
import inspect
import subprocess
import sys
from functools import cached_property
from typing import Any

import pytest

from parlour_sdk.api import AgentRunAPI, PluginAPI
from parlour_sdk.api.files import HostFile
from parlour_sdk.api.processes import StartedProcess
from parlour_sdk.protocol import artifacts, listing, platform_api, runs
from parlour_sdk.protocol.actions import ActionOutcome
from parlour_sdk.protocol.event_log import EventPage, EventRecord
from parlour_sdk.protocol.gateway import GatewayAccess
from parlour_sdk.protocol.history import HistoryPage, HistorySearchResult
from parlour_sdk.protocol.host import HostVersion
from parlour_sdk.protocol.host_actions import HOST_ACTIONS
from parlour_sdk.protocol.knowledge import ParsedFile
from parlour_sdk.protocol.live_permissions import PermissionAnswer
from parlour_sdk.protocol.models import ModelAnswer, ModelChunk
from parlour_sdk.protocol.people import Group, GroupMember, User
from parlour_sdk.protocol.platform_events import FriendAdded
from parlour_sdk.protocol.runtimes import Runtime, Wakeup
from parlour_sdk.protocol.skills import ActiveSkill
from parlour_sdk.protocol.state import StateKeys
from parlour_sdk.protocol.storage import StorageKeys
from parlour_sdk.protocol.tools import ToolDetail, ToolOutcome
from parlour_sdk.protocol.vectors import VectorPage, VectorRecord
from parlour_sdk.results import completed

from .recording import RecordingCaller

EVENT = FriendAdded(event_id="e", timestamp=1, bot_id="b", user=User(id="u"))
CHAT = ("bot", "group", "chat")
METHODS: dict[str, tuple[str, tuple[Any, ...], Any]] = {
    "list_models": ("models.available", (), list),
    "invoke_llm": ("models.invoke", ("m", "hi"), ModelAnswer),
    "invoke_llm_stream": ("models.stream", ("m", "hi"), ModelChunk),
    "invoke_rerank": ("models.rerank", ("m", "q", ["d"]), list),
    "invoke_embedding": ("models.embed", ("m", ["t"]), list),
    "get_tool_detail": ("tools.get", ("t",), ToolDetail),
    "call_tool": ("tools.call", ("t", {"a": 1}), ToolOutcome),
    "list_knowledge": ("knowledge.list", (), list),
    "retrieve_knowledge": ("knowledge.retrieve", ("kb", "q"), list),
    "list_skills": ("skills.list", (), list),
    "activate_skill": ("skills.activate", ("s",), ActiveSkill),
    "history_page": ("history.page", (), HistoryPage),
    "history_search": ("history.search", ("q", {"roles": ["user"]}), HistorySearchResult),
    "event_get": ("events.get", ("e",), EventRecord),
    "event_page": ("events.page", (), EventPage),
    "steering_pull": ("steering.pull", (), list),
    "artifact_metadata": ("artifacts.metadata", ("a",), artifacts.ArtifactMetadata),
    "artifact_read": ("artifacts.read", ("a",), artifacts.ArtifactChunk),
    "artifact_create": ("artifacts.create", (b"x",), artifacts.ArtifactMetadata),
    "state_get": ("state.get", ("actor", "k"), type(None)),
    "state_set": ("state.set", ("actor", "k", 1), type(None)),
    "state_delete": ("state.delete", ("actor", "k"), type(None)),
    "state_list": ("state.list", ("actor",), StateKeys),
    "storage_get": ("storage.get", ("plugin", "k"), bytes),
    "storage_set": ("storage.set", ("plugin", "k", b"x"), type(None)),
    "storage_delete": ("storage.delete", ("plugin", "k"), type(None)),
    "storage_list": ("storage.list", ("plugin",), StorageKeys),
    "get_file": ("files.get", ("f",), HostFile),
    "platform_action": ("platform.request_action", ("message.send", {"chat": "c"}, {"text": "t"}), ActionOutcome),
    "gateway_open": ("gateway.open", (), GatewayAccess),
    "ask_permission": ("permissions.ask", ("Write a.txt",), PermissionAnswer),
    "get_plugin_config": ("host.plugin_config", (), dict),
    "get_host_version": ("host.version", (), HostVersion),
    "run_create": ("runs.create", ("agent", "hi"), runs.AgentRun),
    "run_get": ("runs.get", ("r",), runs.AgentRun),
    "run_list": ("runs.list", (), runs.RunPage),
    "run_events_page": ("runs.events", ("r",), runs.RunEventsPage),
    "run_cancel": ("runs.cancel", ("r",), runs.AgentRun),
    "run_append_result": ("runs.append_result", ("r", completed("hi"), "lease"), type(None)),
    "run_finalize": ("runs.finalize", ("r", "failed", "why", "lease"), runs.AgentRun),
    "run_retry": ("runs.retry", ("r",), runs.AgentRun),
    "runtime_register": ("runtimes.register", ("rt",), Runtime),
    "runtime_heartbeat": ("runtimes.heartbeat", ("rt", 2), Runtime),
    "runtime_wakeups": ("runtimes.wakeups", ("rt",), Wakeup),
    "runtime_list": ("runtimes.list", (), list),
    "runtime_deregister": ("runtimes.deregister", ("rt",), type(None)),
    "run_claim": ("runtimes.claim", ("rt", ["gpu"], ["r"], 5), type(None)),
    "run_renew": ("runtimes.renew", ("r", "lease"), runs.LeaseRenewed),
    "run_release": ("runtimes.release", ("r", "lease"), type(None)),
    "send_message": ("messages.send", (*CHAT, "hi"), platform_api.MessageResult),
    "reply_message": ("messages.reply", (EVENT, "hi"), platform_api.MessageResult),
    "edit_message": ("messages.edit", (*CHAT, "m", "hi"), type(None)),
    "delete_message": ("messages.delete", (*CHAT, "m"), type(None)),
    "forward_message": ("messages.forward", (*CHAT, "m", "private", "c"), platform_api.MessageResult),
    "get_message": ("messages.get", (*CHAT, "m"), platform_api.PlatformMessage),
    "react": ("messages.react", (*CHAT, "m", "+1"), type(None)),
    "send_typing": ("messages.typing", CHAT, type(None)),
    "get_group_info": ("groups.info", ("bot", "g"), Group),
    "get_group_list": ("groups.list", ("bot",), list),
    "get_group_member_list": ("groups.members", ("bot", "g"), list),
    "get_group_member_info": ("groups.member", ("bot", "g", "u"), GroupMember),
    "set_group_name": ("groups.rename", ("bot", "g", "n"), type(None)),
    "mute_member": ("groups.mute", ("bot", "g", "u", 60), type(None)),
    "unmute_member": ("groups.unmute", ("bot", "g", "u"), type(None)),
    "kick_member": ("groups.kick", ("bot", "g", "u"), type(None)),
    "leave_group": ("groups.leave", ("bot", "g"), type(None)),
    "is_muted": ("groups.is_muted", ("bot", "g"), bool),
    "get_user_info": ("users.info", ("bot", "u"), User),
    "get_friend_list": ("users.friends", ("bot",), list),
    "answer_friend_request": ("users.answer_friend_request", ("bot", "r", True), type(None)),
    "answer_group_invite": ("users.answer_group_invite", ("bot", "r", False), type(None)),
    "upload_file": ("media.upload", ("bot", b"x", "x.txt"), platform_api.UploadedFile),
    "get_file_url": ("media.url", ("bot", "f"), str),
    "call_platform_api": ("platform.call", ("bot", "pin_message", {"id": 1}), type(None)),
    "process_start": ("processes.start", ("goose", "goose"), StartedProcess),
    "process_write": ("processes.write", ("process", b"x"), type(None)),
    "get_knowledge_file": ("knowledge_files.read", ("f",), bytes),
    "invoke_parser": ("knowledge_files.parse", ("f",), ParsedFile),
    "vector_upsert": ("vectors.upsert", ("c", [VectorRecord(vector_id="v", vector=[1.0])]), type(None)),
    "vector_search": ("vectors.search", ("c", [1.0]), list),
    "vector_delete": ("vectors.delete", ("c",), type(None)),
    "vector_list": ("vectors.list", ("c",), VectorPage),
    "list_bots": ("listing.bots", (), list),
    "get_bot_capabilities": ("listing.capabilities", ("bot",), listing.BotCapabilities),
    "list_plugins": ("listing.plugins", (), list),
    "list_commands": ("listing.commands", (), list),
    "list_tools": ("listing.tools", (), list),
    "start_conversation": ("conversations.start", ("c",), str),
}
BUILT_ON_OTHERS = {
    "artifacts.stream",
    "files.stream",
    "gateway.open_for_service",
    "knowledge_files.stream",
    "listing.supports",
}
ANSWERS = {
    "artifact_create": {"artifact": {"artifact_id": "a", "artifact_type": "file", "source": "run"}},
    "storage_get": {"found": True, "content_base64": "eA=="},
}
PLACES = {"run": (AgentRunAPI,), "plugin": (PluginAPI,), "either": (AgentRunAPI, PluginAPI)}


def make_api(api: type[AgentRunAPI] | type[PluginAPI], host: RecordingCaller) -> AgentRunAPI | PluginAPI:
    return AgentRunAPI(host, "run") if issubclass(api, AgentRunAPI) else PluginAPI(host)


def public_methods(api: type[AgentRunAPI] | type[PluginAPI]) -> set[str]:
    """Returns the public methods of all namespaces, as `namespace.method`."""
    built = make_api(api, RecordingCaller())
    names = [name for name, value in inspect.getmembers(api) if isinstance(value, cached_property)]
    return {
        f"{name}.{method}"
        for name in names
        for method, _ in inspect.getmembers(type(getattr(built, name)), inspect.isfunction)
        if not method.startswith("_")
    }


async def first_answer(call: Any) -> Any:
    if not inspect.isasyncgen(call):
        return await call
    parts = [part async for part in call]
    return parts[0]


@pytest.mark.parametrize("api", [AgentRunAPI, PluginAPI])
def test_each_api_offers_its_actions_and_nothing_else(api: type[Any]) -> None:
    own = {METHODS[name][0] for name, action in HOST_ACTIONS.items() if api in PLACES[action.where]}
    assert public_methods(api) - BUILT_ON_OTHERS == own


def test_every_action_has_one_method() -> None:
    assert set(METHODS) == set(HOST_ACTIONS)
    assert len({method for method, _, _ in METHODS.values()}) == len(METHODS)


@pytest.mark.parametrize(
    ("name", "api"),
    [(name, api) for name, action in HOST_ACTIONS.items() for api in PLACES[action.where]],
    ids=lambda each: getattr(each, "__name__", each),
)
def test_a_method_sends_its_action_and_returns_the_typed_answer(name: str, api: type[Any]) -> None:
    method, arguments, expected = METHODS[name]
    host = RecordingCaller(**({name: ANSWERS[name]} if name in ANSWERS else {}))
    namespace, _, function = method.partition(".")
    answer = asyncio.run(first_answer(getattr(getattr(make_api(api, host), namespace), function)(*arguments)))
    assert host.actions == [name]
    assert type(answer) is expected
    assert ("run_id" in host.data()) == (api is AgentRunAPI)


def test_unused_namespaces_are_not_loaded() -> None:
    code = (
        "import sys, parlour_sdk.api, parlour_sdk.results\n"
        "parlour_sdk.api.AgentRunAPI(None, 'run').state\n"
        "print(*(name for name in sys.modules if name.startswith('parlour_sdk.api.')))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert set(loaded) == {f"parlour_sdk.api.{name}" for name in ("base", "calls", "plugin", "run", "state")}
