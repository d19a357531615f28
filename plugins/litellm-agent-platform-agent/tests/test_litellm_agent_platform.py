"""Tests the runner of the LiteLLM Agent Platform against a fake: the contract of runners for each interface."""

import json
from pathlib import Path
from typing import Any

import pytest
from litellm_agent_platform_agent.reader import PlatformReader

from parlour_sdk.agents import http_agent as http
from parlour_sdk.agents.http_agent.reader import read_stream
from parlour_sdk.plugin import load_runners, read_plugin
from parlour_sdk.protocol.content import MediaElement
from parlour_sdk.testing import FakeHost
from parlour_sdk.testing.runners import ContractRow, ServiceRig, contract_rows
from parlour_sdk.testing.services import FakeAgentPlatform, FakeService, RecordedRequest

PLUGIN = Path(__file__).parents[1]
NOT_APPLICABLE = {
    "files_of_the_user_reach_the_service": "the platform takes no files",
    "files_of_the_service_reach_the_user": "the platform sends no files",
}
MODES = ("platform", "managed-agents-v0", "agent-platform")


class PlatformRig(ServiceRig):
    plugin, code, mode = PLUGIN, "litellm-agent-platform", "platform"
    answer_path, stop_path = "/v1/sessions/.+/events/stream", "/session/.+/interrupt"
    names_sessions = True
    service: FakeAgentPlatform

    def new_service(self) -> FakeService:
        return FakeAgentPlatform()

    def config(self) -> dict[str, Any]:
        return {**super().config(), "agent_id": "agent-1", "api_mode": self.mode}

    def session_of(self, request: RecordedRequest) -> str | None:
        return request.path.rpartition("/sessions/")[2].split("/")[0]

    def forget_sessions(self) -> None:
        self.service.sessions.clear()

    def offer_file(self, name: str, content: bytes) -> None:
        raise NotImplementedError


class ManagedAgentsRig(PlatformRig):
    mode, stop_path = "managed-agents-v0", "/v1/sessions/.+/abort"


class FirstPlatformRig(PlatformRig):
    mode = "agent-platform"
    answer_path = "/api/v1/managed_agents/sessions/.+/message_stream"
    stop_path = "/api/v1/managed_agents/sessions/.+/abort"


@pytest.mark.parametrize("rig", [PlatformRig, ManagedAgentsRig, FirstPlatformRig], ids=lambda rig: rig.mode)
@pytest.mark.parametrize("row", contract_rows(NOT_APPLICABLE), ids=str)
async def test_it_keeps_the_contract_of_runners(row: ContractRow, rig: type[PlatformRig]) -> None:
    await row.run(rig)


async def ask(service: FakeAgentPlatform, said: Any = "hello", host: FakeHost | None = None, **config: Any) -> Any:
    settings = {"base_url": service.url, "api_key": "k", "agent_id": "agent-1", **config}
    return await (host or FakeHost()).run(PLUGIN, said, config=settings)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("parts", [False, True])
async def test_a_session_goes_on_and_repeats_nothing(mode: str, parts: bool) -> None:
    async with FakeAgentPlatform(parts) as service:
        host = FakeHost()
        first = await ask(service, "one", host, api_mode=mode)
        service.pieces = ["Once", " more"]
        second = await ask(service, "two", host, api_mode=mode)
    assert (first.text, second.text) == ("Hello there", "Once more")
    assert (len(service.sessions), service.prompts) == (1, ["one", "two"])


@pytest.mark.parametrize("mode", MODES)
async def test_a_lost_session_another_key_and_another_conversation_start_another_one(mode: str) -> None:
    async with FakeAgentPlatform() as service:
        host = FakeHost()
        await ask(service, host=host, api_mode=mode)
        service.sessions.clear()
        lost = await ask(service, host=host, api_mode=mode)
        await ask(service, host=host, api_mode=mode, api_key="another")
        host.new_conversation()
        await ask(service, host=host, api_mode=mode, api_key="another")
    assert lost.text == "Hello there"
    assert (lost.messages[-1].metadata or {}).get("session_reset") is True
    assert len(service.sessions) == 3


async def test_the_first_version_waits_until_the_session_is_ready() -> None:
    async with FakeAgentPlatform() as service:
        service.starting = 2
        run = await ask(service, api_mode="agent-platform")
    assert run.text == "Hello there"
    assert [each.path for each in service.requests].count("/api/v1/managed_agents/sessions/s-1") == 3


async def test_usage_of_an_opencode_harness_is_reported() -> None:
    async with FakeAgentPlatform() as service:
        run = await ask(service, api_mode="agent-platform")
    assert (run.usage.prompt_tokens, run.usage.completion_tokens) == (12, 3)


def test_thinking_and_tools_of_parts_are_steps() -> None:
    call = {"id": "p-2", "type": "tool", "tool": "bash"}
    updates = read(
        ("", {"type": "message.part.updated", "properties": {"part": {"id": "p-1", "type": "reasoning", "text": ""}}}),
        ("", {"type": "message.part.delta", "properties": {"partID": "p-1", "delta": "hm"}}),
        ("", tool_part(**call, state={"status": "running", "input": {"command": "ls"}})),
        ("", tool_part(**call, state={"status": "completed", "input": {"command": "ls"}, "output": "a"})),
        ("", tool_part(id="p-3", type="tool", tool="read", state={"status": "error", "error": "gone"})),
    )
    assert [each for each in updates if not isinstance(each, http.SessionNamed)] == [
        http.ThinkingDelta("hm"),
        http.ToolStart("p-2", "bash", {"command": "ls"}),
        http.ToolEnd("p-2", "bash", "a"),
        http.ToolStart("p-3", "read", None),
        http.ToolEnd("p-3", "read", None, "gone"),
    ]


def test_a_type_that_stands_in_the_name_of_the_event_is_read() -> None:
    updates = read(
        ("agent.message", {"content": [{"type": "text", "text": "Hi"}], "model": None}),
        ("agent.tool_use", {"id": "t-1", "name": "bash", "status": "pending"}),
        ("agent.tool_result", {"tool_use_id": "t-1", "name": "bash", "content": [], "error": "denied"}),
        ("session.status_idle", {"stop_reason": {"type": "end_turn"}}),
    )
    assert updates[1:] == [
        http.AnswerDelta("Hi"),
        http.ToolStart("t-1", "bash", None),
        http.ToolEnd("t-1", "bash", None, "denied"),
        http.StreamEnd(),
    ]


async def test_files_are_refused_before_a_request() -> None:
    async with FakeAgentPlatform() as service:
        run = await ask(service, [MediaElement(type="image", content_base64="eA==")])
    assert run.failed_with("litellm-agent-platform.input")
    assert service.requests == []


@pytest.mark.parametrize("mode", MODES)
async def test_test_connection_names_the_agents(mode: str) -> None:
    runner = load_runners(read_plugin(PLUGIN))["default"]
    async with FakeAgentPlatform() as service:
        settings = {"base_url": service.url, "api_key": "k", "api_mode": mode}
        checks = [await runner.test_connection({**settings, "agent_id": agent}) for agent in ("agent-1", "agent-2")]
    assert [check.code for check in checks] == ["", "litellm-agent-platform.config"]
    assert "Helper" in checks[1].message


class Turn:
    def __init__(self) -> None:
        self.notes: dict[str, Any] = {"known_events": set(), "session_id": "s"}


def read(*events: tuple[str, dict[str, Any]]) -> list[http.Update]:
    """Reads events of a stream, each with its name and data."""
    turn: Any = Turn()
    blocks = [f"event: {name}\ndata: {json.dumps(data)}\n\n".encode() for name, data in events]
    return read_stream(blocks, http.EventStreamSplitter(), PlatformReader(turn))


def tool_part(**part: Any) -> dict[str, Any]:
    return {"type": "message.part.updated", "properties": {"part": part}}
