"""Tests the WeKnora runner against a fake of WeKnora: the contract of runners, and what only WeKnora has."""

from pathlib import Path
from typing import Any

import pytest

from parlour_sdk.plugin import load_runners, read_plugin
from parlour_sdk.testing import FakeHost
from parlour_sdk.testing.runners import ContractRow, ServiceRig, contract_rows
from parlour_sdk.testing.services import FakeService, FakeWeKnora, RecordedRequest

PLUGIN = Path(__file__).parents[1]
NOT_APPLICABLE = {"files_of_the_service_reach_the_user": "WeKnora answers with text and links only"}


class WeKnoraRig(ServiceRig):
    plugin, code, names_sessions = PLUGIN, "weknora", True
    answer_path, stop_path = "/api/v1/agent-chat/.+", "/api/v1/sessions/.+/stop"
    service: FakeWeKnora

    def new_service(self) -> FakeService:
        return FakeWeKnora()

    def session_of(self, request: RecordedRequest) -> str | None:
        return request.path.rpartition("/")[2]

    def forget_sessions(self) -> None:
        self.service.sessions.clear()

    def offer_file(self, name: str, content: bytes) -> None:
        raise NotImplementedError

    def received_files(self) -> list[bytes]:
        return self.service.received_files()


@pytest.mark.parametrize("row", contract_rows(NOT_APPLICABLE), ids=str)
async def test_it_keeps_the_contract_of_runners(row: ContractRow) -> None:
    await row.run(WeKnoraRig)


async def ask(service: FakeWeKnora, said: Any = "hello", host: FakeHost | None = None, **config: Any) -> Any:
    return await (host or FakeHost()).run(PLUGIN, said, config={"base_url": service.url, "api_key": "k", **config})


async def test_each_conversation_and_key_has_a_session_of_its_own() -> None:
    async with FakeWeKnora() as service:
        host = FakeHost()
        for _ in range(2):
            await ask(service, host=host)
        host.new_conversation()
        await ask(service, host=host)
        await ask(service, host=host, api_key="another")
        paths = [each.path for each in service.requests if "-chat/" in each.path]
    assert paths[0] == paths[1]
    assert len(set(paths)) == 3


async def test_a_knowledge_chat_cites_its_sources() -> None:
    async with FakeWeKnora() as service:
        service.references = [{"id": "c-1", "content": "x", "knowledge_title": "Manual", "score": 0.5}]
        run = await ask(service, app_type="knowledge", knowledge_base_ids=["kb-1"])
        path = service.requests[-1].path
    assert "/knowledge-chat/" in path
    assert run.messages[0].metadata == {"citations": [{"title": "Manual", "text": "x", "score": 0.5}]}
    assert (run.messages[0].reasoning, run.usage.completion_tokens) == ("hm", 3)


async def test_a_failed_tool_is_not_the_end_of_the_answer() -> None:
    async with FakeWeKnora() as service:
        call = {"tool_name": "search", "tool_call_id": "t-1"}
        service.tools = [
            {"response_type": "tool_call", "data": {**call, "arguments": {"q": "tea"}}},
            {"response_type": "error", "data": {"stage": "tool", "error": "no network"}},
            {"response_type": "tool_result", "data": {**call, "success": False, "error": "no network"}},
        ]
        run = await ask(service)
    assert run.text == "Hello there"
    assert [each.type for each in run.results if each.type.startswith("tool.")] == [
        "tool.call.started",
        "tool.call.completed",
    ]


async def test_an_error_without_an_answer_is_the_failure() -> None:
    async with FakeWeKnora() as service:
        service.pieces = []
        service.tools = [{"response_type": "error", "data": {"stage": "model", "error": "no model"}}]
        run = await ask(service)
    assert run.failed_with("weknora.upstream")
    assert "no model" in (run.error or "")


async def test_an_approval_that_only_weknora_can_give_is_explained() -> None:
    async with FakeWeKnora() as service:
        service.tools = [{"response_type": "tool_approval_required", "data": {}}]
        run = await ask(service)
    assert run.failed_with("weknora.upstream")
    assert "approval" in (run.error or "")


async def test_test_connection_names_unknown_knowledge_bases() -> None:
    runner = load_runners(read_plugin(PLUGIN))["default"]
    async with FakeWeKnora() as service:
        checks = [
            await runner.test_connection({"base_url": service.url, "api_key": "k", "knowledge_base_ids": bases})
            for bases in (["kb-1"], ["kb-2"])
        ]
    assert [check.code for check in checks] == ["", "weknora.config"]
    assert "Manuals" in checks[1].message
