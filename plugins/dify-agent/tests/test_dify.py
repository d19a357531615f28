"""Tests the Dify runner against a fake of Dify: the contract of runners, and what only Dify has."""

from pathlib import Path
from typing import Any

import pytest

from parlour_sdk.plugin import load_runners, read_plugin
from parlour_sdk.testing import FakeHost
from parlour_sdk.testing.runners import ContractRow, ServiceRig, contract_rows
from parlour_sdk.testing.services import FakeDify, FakeService, RecordedRequest, status

PLUGIN = Path(__file__).parents[1]


class DifyRig(ServiceRig):
    plugin, code = PLUGIN, "dify"
    answer_path, stop_path, upload_path = "/v1/chat-messages", "/v1/chat-messages/[^/]+/stop", "/v1/files/upload"
    service: FakeDify

    def new_service(self) -> FakeService:
        return FakeDify()

    def session_of(self, request: RecordedRequest) -> str | None:
        session: str | None = request.json.get("conversation_id")
        return session

    def forget_sessions(self) -> None:
        self.service.conversations.clear()

    def offer_file(self, name: str, content: bytes) -> None:
        self.service.files[name] = content


@pytest.mark.parametrize("row", contract_rows(), ids=str)
async def test_it_keeps_the_contract_of_runners(row: ContractRow) -> None:
    await row.run(DifyRig)


async def ask(service: FakeDify, said: Any = "hello", host: FakeHost | None = None, **config: Any) -> Any:
    settings = {"base_url": service.url, "api_key": "k", "app_type": service.app_type, **config}
    return await (host or FakeHost()).run(PLUGIN, said, config=settings)


@pytest.mark.parametrize("app_type", ["chat", "agent", "chatflow", "workflow"])
async def test_each_type_of_app_answers_and_reports_its_tokens(app_type: str) -> None:
    async with FakeDify(app_type) as service:
        run = await ask(service)
    assert (run.status, run.text) == ("completed", "Hello there")
    assert run.usage.prompt_tokens + run.usage.completion_tokens == 15
    assert "".join(run.deltas) == "Hello there"


async def test_an_agent_shows_its_tools_and_sources() -> None:
    thought = {"event": "agent_thought", "id": "s-1", "position": 1, "thought": "", "tool": "weather"}
    async with FakeDify("agent") as service:
        service.thoughts = [
            {**thought, "tool_input": '{"city": "Oslo"}', "observation": ""},
            {**thought, "tool_input": '{"city": "Oslo"}', "observation": "rain"},
            {"event": "agent_thought", "id": "s-2", "position": 2, "thought": "", "tool": ""},
        ]
        service.sources = [{"position": 1, "document_name": "a.md", "dataset_name": "kb", "content": "x", "score": 0.9}]
        run = await ask(service)
    assert run.text == "Hello there"
    steps = [(each.type, each.data.get("tool_name")) for each in run.results if each.type.startswith("tool.")]
    assert steps == [("tool.call.started", "weather"), ("tool.call.completed", "weather")]
    citation = {"title": "a.md", "source": "kb", "text": "x", "score": 0.9}
    assert run.messages[0].metadata == {"citations": [citation]}


async def test_the_answer_to_a_form_continues_the_same_workflow_run() -> None:
    async with FakeDify("workflow") as service:
        service.asks = True
        host = FakeHost()
        asked = await ask(service, host=host)
        answered = await ask(service, "Approve", host)
    assert asked.text == "Is this right?\n- Approve\n- Reject"
    assert answered.text == "Hello there"
    user = service.requests[0].json["user"]
    assert service.forms == {"token-1": {"inputs": {}, "action": "yes", "user": user}}
    assert service.requests[-1].query["user"] == user


async def test_suggested_questions_are_in_the_metadata() -> None:
    async with FakeDify() as service:
        run = await ask(service, suggestions=True)
    assert run.messages[0].metadata == {"suggestions": ["And then?"]}


async def test_thinking_in_the_text_is_separated() -> None:
    async with FakeDify() as service:
        service.pieces = ["<th", "ink>hm", "m</think>", "Yes"]
        run = await ask(service)
    assert (run.text, run.messages[0].reasoning) == ("Yes", "hmm")


async def test_a_workflow_takes_message_and_files_as_inputs() -> None:
    from parlour_sdk.protocol.content import MediaElement

    async with FakeDify("workflow") as service:
        said = [MediaElement(type="image", name="a.png", content_base64="eA==")]
        run = await ask(service, said, files_variable="pictures", query_variable="q", inputs={"mood": "kind"})
    assert run.status == "completed"
    inputs = service.requests[-1].json["inputs"]
    assert inputs["mood"] == "kind"
    assert inputs["q"] == "Describe this."
    assert inputs["pictures"][0]["type"] == "image"


@pytest.mark.parametrize(
    ("body", "code", "text"),
    [
        ({"code": "not_chat_app", "message": "wrong route", "status": 400}, "dify.config", "app_type"),
        ({"code": "provider_quota_exceeded", "message": "no quota", "status": 400}, "dify.upstream", "no quota"),
        ({"code": "unsupported_file_type", "message": "no", "status": 415}, "dify.input", "no"),
    ],
)
async def test_errors_of_the_app_are_explained(body: dict[str, Any], code: str, text: str) -> None:
    async with FakeDify() as service:
        service.fail(status(body["status"], body))
        run = await ask(service)
    assert run.failed_with(code)
    assert text in (run.error or "")


@pytest.mark.parametrize(
    ("app_type", "required", "code", "text"),
    [
        ("chat", [], "", "Dify answers with the app Helper."),
        ("workflow", [], "dify.config", "choose chat"),
        ("chat", ["mood"], "dify.config", "inputs: the app requires mood"),
    ],
)
async def test_test_connection_says_what_is_wrong(app_type: str, required: list[str], code: str, text: str) -> None:
    runner = load_runners(read_plugin(PLUGIN))["default"]
    async with FakeDify() as service:
        service.required_inputs = required
        check = await runner.test_connection({"base_url": service.url, "api_key": "k", "app_type": app_type})
    assert check.code == code
    assert text in check.message
