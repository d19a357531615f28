"""Tests the Coze runner against a fake of Coze: the contract of runners, and what only Coze has."""

import json
from pathlib import Path
from typing import Any

import pytest

from parlour_sdk.plugin import load_runners, read_plugin
from parlour_sdk.testing import FakeHost
from parlour_sdk.testing.runners import ContractRow, ServiceRig, contract_rows
from parlour_sdk.testing.services import FakeCoze, FakeService, RecordedRequest

PLUGIN = Path(__file__).parents[1]


class CozeRig(ServiceRig):
    plugin, code, address_setting = PLUGIN, "coze", "api_base"
    answer_path, stop_path, upload_path = "/v3/chat", "/v3/chat/cancel", "/v1/files/upload"
    service: FakeCoze

    def new_service(self) -> FakeService:
        return FakeCoze()

    def config(self) -> dict[str, Any]:
        return {**super().config(), "bot_id": "bot-1"}

    def session_of(self, request: RecordedRequest) -> str | None:
        return request.query.get("conversation_id")

    def forget_sessions(self) -> None:
        self.service.conversations.clear()

    def offer_file(self, name: str, content: bytes) -> None:
        self.service.offered.append(name)
        self.service.files[name] = content


@pytest.mark.parametrize("row", contract_rows(), ids=str)
async def test_it_keeps_the_contract_of_runners(row: ContractRow) -> None:
    await row.run(CozeRig)


async def ask(service: FakeCoze, said: Any = "hello", **config: Any) -> Any:
    settings = {"api_base": service.url, "api_key": "k", "bot_id": "bot-1", **config}
    return await FakeHost().run(PLUGIN, said, config=settings)


async def test_an_answer_without_fragments_is_complete() -> None:
    async with FakeCoze() as service:
        service.deltas = False
        run = await ask(service)
    assert (run.status, run.text, run.usage.prompt_tokens) == ("completed", "Hello there", 12)


async def test_suggestions_follow_the_answer() -> None:
    async with FakeCoze() as service:
        service.suggestions = ["And then?", "Why?"]
        run = await ask(service)
    assert run.messages[0].metadata == {"suggestions": ["And then?", "Why?"]}


async def test_pictures_and_text_are_one_message() -> None:
    from parlour_sdk.protocol.content import MediaElement, TextElement

    async with FakeCoze() as service:
        picture = MediaElement(type="image", name="a.png", content_base64="eA==")
        await ask(service, [TextElement(text="look"), picture], variables={"mood": 1})
        body = service.requests[-1].json
    assert body["additional_messages"][0]["content_type"] == "object_string"
    parts = json.loads(body["additional_messages"][0]["content"])
    assert [part["type"] for part in parts] == ["text", "image"]
    assert body["custom_variables"] == {"mood": "1"}


async def test_test_connection_names_the_bot() -> None:
    runner = load_runners(read_plugin(PLUGIN))["default"]
    async with FakeCoze() as service:
        checks = [
            await runner.test_connection({"api_base": service.url, "api_key": "k", "bot_id": bot})
            for bot in ("bot-1", "bot-2")
        ]
    assert [check.code for check in checks] == ["", "coze.upstream"]
    assert "Helper" in checks[0].message
    assert "does not exist" in checks[1].message
