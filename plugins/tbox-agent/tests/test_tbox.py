"""Tests the Tbox runner against a fake of Tbox: the contract of runners, and what only Tbox has."""

from pathlib import Path
from typing import Any

import pytest

from parlour_sdk.plugin import load_runners, read_plugin
from parlour_sdk.testing import FakeHost
from parlour_sdk.testing.runners import ContractRow, ServiceRig, contract_rows
from parlour_sdk.testing.services import FakeService, FakeTbox, RecordedRequest

PLUGIN = Path(__file__).parents[1]


class TboxRig(ServiceRig):
    plugin, code = PLUGIN, "tbox"
    answer_path, upload_path = "/api/chat", "/api/file/upload"
    service: FakeTbox

    def new_service(self) -> FakeService:
        return FakeTbox()

    def config(self) -> dict[str, Any]:
        return {**super().config(), "app_id": "app-1"}

    def session_of(self, request: RecordedRequest) -> str | None:
        session: str | None = request.json.get("conversationId")
        return session

    def forget_sessions(self) -> None:
        self.service.conversations.clear()

    def offer_file(self, name: str, content: bytes) -> None:
        self.service.offered.append(name)
        self.service.files[name] = content


@pytest.mark.parametrize("row", contract_rows(), ids=str)
async def test_it_keeps_the_contract_of_runners(row: ContractRow) -> None:
    await row.run(TboxRig)


async def ask(service: FakeTbox, said: Any = "hello", **config: Any) -> Any:
    settings = {"base_url": service.url, "api_key": "k", "app_id": "app-1", **config}
    return await FakeHost().run(PLUGIN, said, config=settings)


async def test_the_key_is_sent_as_it_is() -> None:
    async with FakeTbox() as service:
        await ask(service)
    assert (service.requests[0].headers["authorization"], service.requests[0].headers["source"]) == ("k", "AGENT_SDK")


async def test_other_lanes_are_messages_of_their_own() -> None:
    async with FakeTbox() as service:
        service.other_lanes = {"summary": "In short: hello"}
        run = await ask(service)
    assert [each.content for each in run.messages] == ["Hello there", "In short: hello"]


async def test_a_revoked_text_is_not_in_the_message() -> None:
    async with FakeTbox() as service:
        service.revoked = "Never mind"
        run = await ask(service)
    assert run.text == "Hello there"


async def test_test_connection_checks_the_application() -> None:
    runner = load_runners(read_plugin(PLUGIN))["default"]
    async with FakeTbox() as service:
        checks = [
            await runner.test_connection({"base_url": service.url, "api_key": "k", "app_id": app})
            for app in ("app-1", "app-2")
        ]
    assert [check.code for check in checks] == ["", "tbox.upstream"]
    assert "does not exist" in checks[1].message
