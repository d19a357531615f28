"""Tests the A2A runner against a fake agent in both versions: the contract of runners, and what only A2A has."""

from pathlib import Path
from typing import Any

import pytest

from parlour_sdk.plugin import load_runners, read_plugin
from parlour_sdk.testing import FakeHost
from parlour_sdk.testing.runners import ContractRow, ServiceRig, contract_rows
from parlour_sdk.testing.services import FakeA2a, FakeService, RecordedRequest

PLUGIN = Path(__file__).parents[1]
NOT_APPLICABLE = {
    "a_lost_session_is_replaced_once": "an agent takes any context",
    "status_404_names_the_address": "the address is that of the card, which is read first",
}


class A2aRig(ServiceRig):
    plugin, code, answer_path = PLUGIN, "a2a", FakeA2a.path
    service: FakeA2a

    def new_service(self) -> FakeService:
        return FakeA2a()

    def config(self) -> dict[str, Any]:
        return {**super().config(), "auth": "bearer"}

    def answered(self) -> list[RecordedRequest]:
        return [each for each in super().answered() if "cancel" not in each.json["method"].lower()]

    def session_of(self, request: RecordedRequest) -> str | None:
        session: str | None = request.json["params"]["message"].get("contextId")
        return session

    def forget_sessions(self) -> None:
        raise NotImplementedError

    def offer_file(self, name: str, content: bytes) -> None:
        self.service.files[name] = content

    def received_files(self) -> list[bytes]:
        return self.service.received_files()


class OldA2aRig(A2aRig):
    def new_service(self) -> FakeService:
        return FakeA2a("0.3")


@pytest.mark.parametrize("rig", [A2aRig, OldA2aRig], ids=["1.0", "0.3"])
@pytest.mark.parametrize("row", contract_rows(NOT_APPLICABLE), ids=str)
async def test_it_keeps_the_contract_of_runners(row: ContractRow, rig: type[ServiceRig]) -> None:
    await row.run(rig)


async def ask(service: FakeA2a, said: Any = "hello", host: FakeHost | None = None, **config: Any) -> Any:
    return await (host or FakeHost()).run(PLUGIN, said, config={"base_url": service.url, **config})


@pytest.mark.parametrize("service", [FakeA2a(rest=True), FakeA2a(streams=False), FakeA2a("0.3", streams=False)])
async def test_other_bindings_and_agents_without_streams_answer(service: FakeA2a) -> None:
    async with service:
        run = await ask(service)
    assert (run.status, run.text) == ("completed", "Hello there")


@pytest.mark.parametrize("version", ["1.0", "0.3"])
async def test_a_question_continues_the_same_task(version: Any) -> None:
    async with FakeA2a(version) as service:
        host = FakeHost()
        service.question = "Which city?"
        asked = await ask(service, host=host)
        answered = await ask(service, "Oslo", host)
        message = service.requests[-1].json["params"]["message"]
    assert (asked.text, answered.text) == ("Which city?", "Hello there")
    assert service.tasks == {message["taskId"]: message["contextId"]}


async def test_a_cancelled_task_is_cancelled_at_the_agent() -> None:
    async with A2aRig() as rig:
        rig.hold("Hello")
        async with rig.host().start(PLUGIN, "hi", config=rig.config(), timeout=30) as run:
            await run.until_delta()
            run.cancel()
        assert rig.service.requests[-1].json["method"] == "CancelTask"


@pytest.mark.parametrize(
    ("card_url", "code"), [("http://elsewhere.example.org/a2a", "a2a.config"), ("http://0.0.0.0:9/a2a", "")]
)
async def test_a_card_of_another_place_gets_no_credentials(card_url: str, code: str) -> None:
    async with FakeA2a() as service:
        service.card_url = card_url
        run = await ask(service)
    assert (run.code or "") == code


@pytest.mark.parametrize(
    ("scheme", "auth", "code", "text"),
    [
        (None, "none", "", "Helper speaks A2A 1.0 over JSON-RPC"),
        ({"httpAuthSecurityScheme": {"scheme": "Bearer"}}, "none", "a2a.config", "asks for bearer"),
        ({"apiKeySecurityScheme": {"name": "X-Key", "location": "header"}}, "bearer", "a2a.config", "header X-Key"),
        ({"httpAuthSecurityScheme": {"scheme": "Bearer"}}, "bearer", "", "Helper"),
    ],
)
async def test_test_connection_compares_the_credentials_with_the_card(
    scheme: dict[str, Any] | None, auth: str, code: str, text: str
) -> None:
    runner = load_runners(read_plugin(PLUGIN))["default"]
    async with FakeA2a() as service:
        service.scheme = scheme
        check = await runner.test_connection({"base_url": service.url, "auth": auth, "api_key": "secret-1"})
    assert check.code == code
    assert text in check.message
