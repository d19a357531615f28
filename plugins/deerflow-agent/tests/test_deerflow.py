"""Tests the DeerFlow runner against a fake LangGraph server: the contract of runners, and what only DeerFlow has."""

from pathlib import Path
from typing import Any

import pytest

from parlour_sdk.plugin import load_runners, read_plugin
from parlour_sdk.protocol.content import MediaElement, TextElement
from parlour_sdk.testing import FakeHost
from parlour_sdk.testing.runners import ContractRow, ServiceRig, contract_rows
from parlour_sdk.testing.services import FakeDeerFlow, FakeService, RecordedRequest

PLUGIN = Path(__file__).parents[1]


class DeerFlowRig(ServiceRig):
    plugin, code, address_setting = PLUGIN, "deerflow", "api_base"
    answer_path = "/api/langgraph/threads/[^/]+/runs/stream"
    names_sessions = True
    stop_path, upload_path = "/api/langgraph/threads/.+/runs/.+/cancel", "/api/threads/[^/]+/uploads"
    service: FakeDeerFlow

    def new_service(self) -> FakeService:
        return FakeDeerFlow()

    def config(self) -> dict[str, Any]:
        return {**super().config(), "api_base": self.service.api_base, "auth": "bearer"}

    def session_of(self, request: RecordedRequest) -> str | None:
        return request.path.split("/")[4]

    def forget_sessions(self) -> None:
        self.service.threads.clear()

    def offer_file(self, name: str, content: bytes) -> None:
        self.service.files[name] = content


@pytest.mark.parametrize("row", contract_rows(), ids=str)
async def test_it_keeps_the_contract_of_runners(row: ContractRow) -> None:
    await row.run(DeerFlowRig)


async def ask(service: FakeDeerFlow, said: Any = "hello", host: FakeHost | None = None, **config: Any) -> Any:
    return await (host or FakeHost()).run(PLUGIN, said, config={"api_base": service.api_base, **config})


def threads_of(service: FakeDeerFlow) -> list[str]:
    return [each.path.split("/")[4] for each in service.requests if each.path.endswith("/runs/stream")]


async def test_each_conversation_and_key_has_a_thread_of_its_own() -> None:
    async with FakeDeerFlow() as service:
        host = FakeHost()
        for _ in range(2):
            await ask(service, host=host, api_key="one", auth="bearer")
        host.new_conversation()
        await ask(service, host=host, api_key="one", auth="bearer")
        await ask(service, host=host, api_key="two", auth="bearer")
        first, second, third, fourth = threads_of(service)
    assert first == second
    assert len({first, third, fourth}) == 3


async def test_the_history_is_never_shown_again() -> None:
    async with FakeDeerFlow() as service:
        host = FakeHost()
        await ask(service, host=host)
        service.pieces = ["Once", " more"]
        run = await ask(service, host=host)
    assert (run.text, "".join(run.deltas)) == ("Once more", "Once more")
    assert run.usage.prompt_tokens == 12


async def test_a_question_is_the_answer_and_the_next_message_continues() -> None:
    async with FakeDeerFlow() as service:
        host = FakeHost()
        service.question = "Which city?"
        asked = await ask(service, host=host)
        service.question = ""
        await ask(service, "Oslo", host)
        first, second = threads_of(service)
    assert asked.text == "Which city?"
    assert first == second


async def test_an_interrupt_is_resumed_with_the_next_message() -> None:
    async with FakeDeerFlow() as service:
        host = FakeHost()
        service.interrupt = "Shall I?"
        asked = await ask(service, host=host)
        resumed = await ask(service, "yes", host)
        command = service.requests[-1].json["command"]
    assert (asked.text, resumed.text, command) == ("Shall I?", "Hello there", {"resume": "yes"})


async def test_tasks_of_subagents_are_steps() -> None:
    async with FakeDeerFlow() as service:
        task = {"task_id": "k-1", "description": "Search"}
        service.tasks = [{**task, "type": "task_started"}, {**task, "type": "task_failed", "error": "no network"}]
        run = await ask(service)
    steps = [(each.type, each.data.get("error")) for each in run.results if each.type.startswith("tool.")]
    assert steps == [("tool.call.started", None), ("tool.call.completed", "no network")]


async def test_pictures_are_part_of_the_message() -> None:
    async with FakeDeerFlow() as service:
        await ask(service, [TextElement(text="look"), MediaElement(type="image", content_base64="eA==")])
        content = service.requests[-1].json["input"]["messages"][0]["content"]
    assert [part["type"] for part in content] == ["text", "image_url"]


async def test_it_signs_in_where_deerflow_asks_for_it() -> None:
    async with FakeDeerFlow() as service:
        service.password = "secret-of-ann"
        login = {"auth": "login", "username": "ann"}
        allowed = await ask(service, **login, password="secret-of-ann")
        refused = await ask(service, **login, password="wrong-one")
        without = await ask(service)
    assert allowed.status == "completed"
    assert refused.failed_with("deerflow.auth")
    assert without.failed_with("deerflow.auth")


async def test_test_connection_names_the_assistants() -> None:
    runner = load_runners(read_plugin(PLUGIN))["default"]
    async with FakeDeerFlow() as service:
        checks = [
            await runner.test_connection({"api_base": service.api_base, "assistant_id": name})
            for name in ("lead_agent", "other")
        ]
    assert [check.code for check in checks] == ["", "deerflow.config"]
    assert "lead_agent" in checks[1].message
