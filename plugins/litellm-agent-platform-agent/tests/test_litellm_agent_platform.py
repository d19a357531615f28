"""Tests the runner of the LiteLLM Agent Platform against a fake: the contract of runners, and its two families."""

from pathlib import Path
from typing import Any

import pytest

from parlour_sdk.plugin import load_runners, read_plugin
from parlour_sdk.protocol.content import MediaElement
from parlour_sdk.testing import FakeHost
from parlour_sdk.testing.runners import ContractRow, ServiceRig, contract_rows
from parlour_sdk.testing.services import FakeAgentPlatform, FakeService, RecordedRequest

PLUGIN = Path(__file__).parents[1]
OWN_TEST = "the session is made by an earlier call, which another test checks"
NOT_APPLICABLE = {
    "a_conversation_keeps_its_session": OWN_TEST,
    "another_key_starts_another_session": OWN_TEST,
    "two_conversations_never_share_a_session": OWN_TEST,
    "a_lost_session_is_replaced_once": OWN_TEST,
    "files_of_the_user_reach_the_service": "the platform takes no files",
    "files_of_the_service_reach_the_user": "the platform sends no files",
}


class PlatformRig(ServiceRig):
    plugin, code = PLUGIN, "litellm-agent-platform"
    answer_path, stop_path = "/v1/sessions/.+/events/stream", "/session/.+/interrupt"

    def new_service(self) -> FakeService:
        return FakeAgentPlatform()

    def config(self) -> dict[str, Any]:
        return {**super().config(), "agent_id": "agent-1"}

    def session_of(self, request: RecordedRequest) -> str | None:
        return request.path.split("/")[3]

    def forget_sessions(self) -> None:
        raise NotImplementedError

    def offer_file(self, name: str, content: bytes) -> None:
        raise NotImplementedError


@pytest.mark.parametrize("row", contract_rows(NOT_APPLICABLE), ids=str)
async def test_it_keeps_the_contract_of_runners(row: ContractRow) -> None:
    await row.run(PlatformRig)


async def ask(service: FakeAgentPlatform, said: Any = "hello", host: FakeHost | None = None, **config: Any) -> Any:
    settings = {"base_url": service.url, "api_key": "k", "agent_id": "agent-1", **config}
    return await (host or FakeHost()).run(PLUGIN, said, config=settings)


@pytest.mark.parametrize("parts", [False, True])
async def test_a_session_goes_on_and_repeats_nothing(parts: bool) -> None:
    async with FakeAgentPlatform(parts) as service:
        host = FakeHost()
        first = await ask(service, "one", host)
        service.pieces = ["Once", " more"]
        second = await ask(service, "two", host)
    assert (first.text, second.text) == ("Hello there", "Once more")
    assert (len(service.sessions), service.prompts) == (1, ["one", "two"])


async def test_a_lost_session_and_another_key_start_another_one() -> None:
    async with FakeAgentPlatform() as service:
        host = FakeHost()
        await ask(service, host=host)
        service.sessions.clear()
        lost = await ask(service, host=host)
        await ask(service, host=host, api_key="another")
        host.new_conversation()
        await ask(service, host=host, api_key="another")
    assert (lost.messages[-1].metadata or {}).get("session_reset") is True
    assert len(service.sessions) == 3


async def test_files_are_refused_before_a_request() -> None:
    async with FakeAgentPlatform() as service:
        run = await ask(service, [MediaElement(type="image", content_base64="eA==")])
    assert run.failed_with("litellm-agent-platform.input")
    assert service.requests == []


async def test_test_connection_names_the_agents() -> None:
    runner = load_runners(read_plugin(PLUGIN))["default"]
    async with FakeAgentPlatform() as service:
        checks = [
            await runner.test_connection({"base_url": service.url, "api_key": "k", "agent_id": agent})
            for agent in ("agent-1", "agent-2")
        ]
    assert [check.code for check in checks] == ["", "litellm-agent-platform.config"]
    assert "Helper" in checks[1].message
