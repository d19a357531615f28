"""Tests the n8n runner against a fake of n8n: the contract of runners, and what only n8n has."""

import hashlib
import hmac
import json
from base64 import b64encode, urlsafe_b64decode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n8n_agent.reader import N8nReader

from parlour_sdk.agents.http_agent import AnswerDelta, JsonTextSplitter, NodeProgress, StreamEnd
from parlour_sdk.agents.http_agent.reader import read_stream
from parlour_sdk.plugin import load_runners, read_plugin
from parlour_sdk.testing import FakeHost
from parlour_sdk.testing.runners import ContractRow, ServiceRig, contract_rows
from parlour_sdk.testing.services import FakeN8n, FakeService, RecordedRequest, status

PLUGIN = Path(__file__).parents[1]
NOT_APPLICABLE = {
    "another_key_starts_another_session": "the session belongs to the webhook, whatever the credentials",
    "a_lost_session_is_replaced_once": "the workflow takes any session id",
    "files_of_the_service_reach_the_user": "an answer is either text or one file, which another test checks",
}


class N8nRig(ServiceRig):
    plugin, code = PLUGIN, "n8n"
    answer_path, address_setting, key_setting = FakeN8n.path, "webhook_url", "header_value"
    names_sessions = True
    service: FakeN8n

    def new_service(self) -> FakeService:
        return FakeN8n()

    def config(self) -> dict[str, Any]:
        return {**super().config(), "webhook_url": self.service.webhook_url, "auth": "header"}

    def session_of(self, request: RecordedRequest) -> str | None:
        session: str = request.json["sessionId"]
        return session

    def forget_sessions(self) -> None:
        raise NotImplementedError

    def offer_file(self, name: str, content: bytes) -> None:
        raise NotImplementedError

    def received_files(self) -> list[bytes]:
        return self.service.received_files()


@pytest.mark.parametrize("row", contract_rows(NOT_APPLICABLE), ids=str)
async def test_it_keeps_the_contract_of_runners(row: ContractRow) -> None:
    await row.run(N8nRig)


async def ask(service: FakeN8n, said: Any = "hello", **config: Any) -> Any:
    return await FakeHost().run(PLUGIN, said, config={"webhook_url": service.webhook_url, **config})


@pytest.mark.parametrize("mode", ["streaming", "last_node", "text"])
async def test_each_kind_of_answer_is_read(mode: Any) -> None:
    async with FakeN8n(mode) as service:
        run = await ask(service)
    assert (run.status, run.text) == ("completed", "Hello there")


async def test_an_answer_before_the_workflow_ends_is_explained() -> None:
    async with FakeN8n("immediately") as service:
        run = await ask(service)
    assert run.failed_with("n8n.no_output")
    assert "When Last Node Finishes" in (run.error or "")


async def test_an_answer_that_is_a_file_becomes_a_file() -> None:
    async with FakeN8n("file") as service:
        service.file = b"picture"
        run = await ask(service)
    assert [artifact.content for artifact in run.artifacts] == [b"picture"]


@pytest.mark.parametrize("files_as", ["json", "multipart"])
async def test_files_are_sent_as_configured(files_as: str) -> None:
    from parlour_sdk.protocol.content import MediaElement

    async with FakeN8n() as service:
        said = [MediaElement(type="file", name="a.txt", content_base64=b64encode(b"text").decode())]
        run = await ask(service, said, files_as=files_as)
        assert (run.status, service.received_files()) == ("completed", [b"text"])


async def test_a_token_is_signed_with_the_passphrase() -> None:
    async with FakeN8n() as service:
        await ask(service, auth="jwt", jwt_secret="phrase", jwt_algorithm="HS384")
    token = service.requests[0].headers["authorization"].removeprefix("Bearer ")
    signed, _, signature = token.rpartition(".")
    wanted = hmac.new(b"phrase", signed.encode(), hashlib.sha384).digest()
    assert urlsafe_b64decode(signature + "==") == wanted


async def test_basic_authentication_is_sent_and_its_refusal_explained() -> None:
    async with FakeN8n() as service:
        service.authorization = f"Basic {b64encode('ann:grün'.encode()).decode()}"
        allowed = await ask(service, auth="basic", username="ann", password="grün")
        refused = await ask(service, auth="basic", username="ann", password="red")
    assert allowed.status == "completed"
    assert refused.failed_with("n8n.auth")


async def test_an_inactive_workflow_and_a_missing_credential_are_explained() -> None:
    async with FakeN8n() as service:
        inactive = await ask(service, webhook_url=f"{service.url}/webhook/other")
        missing = await ask(service, auth="basic")
        service.fail(status(500, {"message": "Error in workflow"}))
        failed = await ask(service)
    assert inactive.failed_with("n8n.not_found")
    assert "not active" in (inactive.error or "")
    assert "username" in (missing.error or "")
    assert failed.failed_with("n8n.upstream")


async def test_test_connection_says_what_is_wrong() -> None:
    runner = load_runners(read_plugin(PLUGIN))["default"]
    async with FakeN8n() as service:
        checks = [
            await runner.test_connection({"webhook_url": f"{service.url}{path}"})
            for path in ("/webhook/agent", "/webhook/none", "/webhook-test/agent")
        ]
    assert [check.code for check in checks] == ["", "n8n.not_found", "n8n.config"]


METADATA = {"nodeId": "2", "nodeName": "AI Agent", "itemIndex": 0, "runIndex": 0}


@given(st.lists(st.text(), max_size=6), st.integers(1, 50))
def test_text_of_a_stream_is_read_whatever_the_blocks(pieces: list[str], size: int) -> None:
    shown = [piece for piece in pieces if not piece.lstrip().startswith("{")]
    items = [{"type": "item", "content": piece, "metadata": METADATA} for piece in shown]
    events = [{"type": "begin", "metadata": METADATA}, *items, {"type": "end", "metadata": METADATA}]
    content = "\n".join(json.dumps(event, ensure_ascii=False) for event in events).encode()
    blocks = [content[start : start + size] for start in range(0, len(content), size)]
    updates = read_stream(blocks, JsonTextSplitter(), N8nReader())
    assert "".join(each.text for each in updates if isinstance(each, AnswerDelta)) == "".join(shown)
    assert [each.status for each in updates if isinstance(each, NodeProgress)] == ["started", "completed"]
    assert isinstance(updates[-1], StreamEnd)


def test_a_json_text_of_a_respond_node_is_unwrapped() -> None:
    event = {"type": "item", "content": '{"output": "Hi"}', "metadata": METADATA}
    updates = read_stream([json.dumps(event).encode()], JsonTextSplitter(), N8nReader())
    assert updates == [AnswerDelta("Hi"), StreamEnd()]
