"""Tests the Langflow runner against a fake of Langflow: the contract of runners, and what only Langflow has."""

from pathlib import Path
from typing import Any

import pytest
from langflow_agent.reader import LangflowReader

from parlour_sdk.agents.http_agent import AnswerDelta, JsonTextSplitter, StreamEnd
from parlour_sdk.agents.http_agent.reader import read_stream
from parlour_sdk.plugin import load_runners, read_plugin
from parlour_sdk.testing import FakeHost
from parlour_sdk.testing.runners import ContractRow, ServiceRig, contract_rows
from parlour_sdk.testing.services import FakeLangflow, FakeService, RecordedRequest, status

PLUGIN = Path(__file__).parents[1]
NOT_APPLICABLE = {"a_lost_session_is_replaced_once": "Langflow takes any session id"}


class LangflowRig(ServiceRig):
    plugin, code, names_sessions = PLUGIN, "langflow", True
    answer_path, upload_path = "/api/v1/run/flow-1", "/api/v1/files/upload/flow-1"
    service: FakeLangflow

    def new_service(self) -> FakeService:
        return FakeLangflow()

    def config(self) -> dict[str, Any]:
        return {**super().config(), "flow_id": "flow-1", "chat_input": "ChatInput-1"}

    def session_of(self, request: RecordedRequest) -> str | None:
        session: str = request.json["session_id"]
        return session

    def forget_sessions(self) -> None:
        raise NotImplementedError

    def offer_file(self, name: str, content: bytes) -> None:
        self.service.offered.append(name)
        self.service.files[name] = content


@pytest.mark.parametrize("row", contract_rows(NOT_APPLICABLE), ids=str)
async def test_it_keeps_the_contract_of_runners(row: ContractRow) -> None:
    await row.run(LangflowRig)


async def ask(service: FakeLangflow, said: Any = "hello", **config: Any) -> Any:
    return await FakeHost().run(PLUGIN, said, config={"base_url": service.url, "flow_id": "flow-1", **config})


@pytest.mark.parametrize("tokens", [True, False])
async def test_a_flow_answers_with_or_without_tokens(tokens: bool) -> None:
    async with FakeLangflow(tokens) as service:
        run = await ask(service)
    assert (run.text, "".join(run.deltas)) == ("Hello there", "Hello there")
    assert "x-api-key" not in service.requests[0].headers


async def test_the_steps_of_an_agent_are_tool_calls() -> None:
    async with FakeLangflow() as service:
        service.tools = [{"type": "tool_use", "name": "weather", "tool_input": {"city": "Oslo"}, "output": "rain"}]
        run = await ask(service)
    tools = [each.type for each in run.results if each.type.startswith("tool.")]
    assert tools == ["tool.call.started", "tool.call.completed"]


async def test_pictures_are_a_tweak_of_the_chat_input() -> None:
    from parlour_sdk.protocol.content import MediaElement, TextElement

    said = [TextElement(text="look"), MediaElement(type="image", name="a.png", content_base64="eA==")]
    async with FakeLangflow() as service:
        await ask(service, said, chat_input="ChatInput-1", tweaks={"Model-1": {"temperature": 0}})
        refused = await ask(service, said)
    tweaks = service.requests[1].json["tweaks"]
    assert tweaks == {"Model-1": {"temperature": 0}, "ChatInput-1": {"files": ["flow-1/a.png"]}}
    assert refused.failed_with("langflow.input")


async def test_the_error_inside_an_error_is_shown() -> None:
    async with FakeLangflow() as service:
        service.fail(status(500, {"detail": '{"message": "no model", "traceback": null}'}))
        run = await ask(service)
    assert run.failed_with("langflow.upstream")
    assert (run.error or "").endswith("(no model)")


async def test_test_connection_names_the_flow() -> None:
    runner = load_runners(read_plugin(PLUGIN))["default"]
    async with FakeLangflow() as service:
        checks = [
            await runner.test_connection({"base_url": service.url, "flow_id": flow}) for flow in ("flow-1", "flow-2")
        ]
    assert [check.code for check in checks] == ["", "langflow.not_found"]
    assert "Helper" in checks[0].message


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_a_recorded_stream_is_read_whatever_the_blocks(size: int) -> None:
    content = (Path(__file__).parent / "recorded_stream.txt").read_bytes()
    blocks = [content[start : start + size] for start in range(0, len(content), size)]
    updates = read_stream(blocks, JsonTextSplitter(), LangflowReader())
    assert updates == [AnswerDelta("Grüße 世界"), StreamEnd()]
