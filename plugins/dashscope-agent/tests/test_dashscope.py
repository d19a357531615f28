"""Tests the DashScope runner against a fake of DashScope: the contract of runners, and what only DashScope has."""

from pathlib import Path
from typing import Any

import pytest
from dashscope_agent.reader import DashScopeReader
from hypothesis import example, given
from hypothesis import strategies as st

from parlour_sdk.agents.http_agent import AnswerDelta, ServerEvent
from parlour_sdk.plugin import load_runners, read_plugin
from parlour_sdk.protocol.content import MediaElement, TextElement
from parlour_sdk.testing import FakeHost
from parlour_sdk.testing.runners import ContractRow, ServiceRig, contract_rows
from parlour_sdk.testing.services import FakeDashScope, FakeService, RecordedRequest

PLUGIN = Path(__file__).parents[1]
NOT_APPLICABLE = {
    "files_of_the_user_reach_the_service": "DashScope takes only public addresses, which another test checks",
    "files_of_the_service_reach_the_user": "applications answer with text only",
}


class DashScopeRig(ServiceRig):
    plugin, code = PLUGIN, "dashscope"
    answer_path = "/apps/app-1/completion"
    service: FakeDashScope

    def new_service(self) -> FakeService:
        return FakeDashScope()

    def config(self) -> dict[str, Any]:
        return {**super().config(), "app_id": "app-1"}

    def session_of(self, request: RecordedRequest) -> str | None:
        session: str | None = request.json["input"].get("session_id")
        return session

    def forget_sessions(self) -> None:
        self.service.sessions.clear()

    def offer_file(self, name: str, content: bytes) -> None:
        raise NotImplementedError


@pytest.mark.parametrize("row", contract_rows(NOT_APPLICABLE), ids=str)
async def test_it_keeps_the_contract_of_runners(row: ContractRow) -> None:
    await row.run(DashScopeRig)


async def ask(service: FakeDashScope, said: Any = "hello", **config: Any) -> Any:
    return await FakeHost().run(
        PLUGIN, said, config={"base_url": service.url, "api_key": "k", "app_id": "app-1", **config}
    )


@pytest.mark.parametrize("workflow", [False, True])
@pytest.mark.parametrize("is_cumulative", [False, True])
async def test_each_way_of_streaming_gives_the_same_answer(workflow: bool, is_cumulative: bool) -> None:
    async with FakeDashScope(workflow) as service:
        service.is_cumulative = is_cumulative
        run = await ask(service, app_type="workflow" if workflow else "agent")
    assert (run.text, "".join(run.deltas)) == ("Hello there", "Hello there")
    assert run.usage.prompt_tokens == 12


async def test_sources_are_cited_and_named_after_the_answer() -> None:
    async with FakeDashScope() as service:
        service.pieces = ["Rain <r", "ef>[1]</", "ref> today"]
        service.references = [{"index_id": "1", "doc_id": "d", "doc_name": "Weather", "text": "rain"}] * 2
        run = await ask(service, references_quote="Sources:")
    assert run.text == "Rain [1] today\n\nSources:\n1. Weather"
    assert run.messages[0].metadata == {"citations": [{"title": "Weather", "text": "rain"}]}


async def test_thoughts_are_reasoning_and_tools() -> None:
    async with FakeDashScope() as service:
        call = {"action_type": "api", "action_name": "weather", "action_input": {"city": "Oslo"}}
        service.thoughts = [{"action_type": "reasoning", "thought": "hm"}, call, {**call, "observation": "rain"}]
        run = await ask(service)
    assert run.messages[0].reasoning == "hm"
    tools = [each.type for each in run.results if each.type.startswith("tool.")]
    assert tools == ["tool.call.started", "tool.call.completed"]


async def test_an_error_in_the_stream_has_the_status_of_its_comment() -> None:
    async with FakeDashScope() as service:
        service.stream_error = (429, "Throttling.RateQuota", "slow down")
        run = await ask(service)
    assert run.failed_with("dashscope.rate_limited")
    assert "slow down" in (run.error or "")


async def test_files_are_sent_by_their_public_address_only() -> None:
    async with FakeDashScope() as service:
        picture = MediaElement(type="image", name="a.png", url="https://example.org/a.png")
        await ask(service, [TextElement(text="look"), picture])
        refused = await ask(service, [TextElement(text="look"), MediaElement(type="image", content_base64="eA==")])
    assert service.requests[0].json["input"]["image_list"] == ["https://example.org/a.png"]
    assert refused.failed_with("dashscope.input")
    assert len(service.requests) == 1


async def test_test_connection_checks_key_and_application_without_work() -> None:
    runner = load_runners(read_plugin(PLUGIN))["default"]
    async with FakeDashScope() as service:
        checks = [
            await runner.test_connection({"base_url": service.url, "api_key": "k", "app_id": app})
            for app in ("app-1", "app-2")
        ]
    assert [check.code for check in checks] == ["", "dashscope.not_found"]


@given(st.lists(st.sampled_from(["a", "<", "ref", ">", "[1]", "</ref>", "<ref>", "世"]), max_size=12))
@example(["<", "ref", "</ref>", ">"])
def test_marks_of_sources_are_removed_whatever_the_fragments(pieces: list[str]) -> None:
    import json

    def shown(fragments: list[str]) -> str:
        reader = DashScopeReader()
        events = [{"output": {"text": piece, "finish_reason": "null"}} for piece in fragments]
        events.append({"output": {"text": "", "finish_reason": "stop"}})
        updates = [each for event in events for each in reader.read(ServerEvent(json.dumps(event))) or ()]
        return "".join(each.text for each in updates if isinstance(each, AnswerDelta))

    whole = "".join(pieces)
    assert shown(["x", *whole]) == shown(["x", whole])
