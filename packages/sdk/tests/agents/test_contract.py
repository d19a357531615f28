"""Tests that the toy service's runner keeps the whole contract, and that the contract notices a broken promise."""

from typing import Any

import pytest

from parlour_sdk.agents.http_agent import AnswerDelta, AnswerText, ServerEvent, ServiceRequest
from parlour_sdk.testing.runners import ContractRow, contract_rows

from .toy import ToyRig
from .toy_service.components.runners.default import ToyReader, ToyRunner


@pytest.mark.parametrize("row", contract_rows(), ids=str)
async def test_the_toy_service_keeps_the_contract(row: ContractRow) -> None:
    await row.run(ToyRig)


class NeverStops(ToyRunner):
    async def stop(self, turn: Any) -> None:
        return None


class SharesSessions(ToyRunner):
    async def build_request(self, turn: Any) -> ServiceRequest:
        request = await super().build_request(turn)
        return ServiceRequest("/chat", {**request.json, "conversation": "c-1"})


class ForgetsSessions(ToyRunner):
    async def build_request(self, turn: Any) -> ServiceRequest:
        request = await super().build_request(turn)
        return ServiceRequest("/chat", {**request.json, "conversation": None})


class LosesFragments(ToyReader):
    def read(self, event: ServerEvent) -> Any:
        return [AnswerText("other") if isinstance(each, AnswerDelta) else each for each in super().read(event) or ()]


class ReadsOtherwise(ToyRunner):
    def new_reader(self, turn: Any) -> Any:
        return LosesFragments()


class LeavesFilesOut(ToyRunner):
    uploads_files = False


@pytest.mark.parametrize(
    ("broken", "row"),
    [
        (NeverStops, "a_cancellation_reaches_the_service"),
        (NeverStops, "a_deadline_reaches_the_service"),
        (SharesSessions, "two_conversations_never_share_a_session"),
        (ForgetsSessions, "a_conversation_keeps_its_session"),
        (ReadsOtherwise, "the_joined_fragments_are_the_message"),
        (LeavesFilesOut, "files_of_the_user_reach_the_service"),
    ],
)
async def test_a_broken_promise_fails_its_row(broken: Any, row: str) -> None:
    class BrokenRig(ToyRig):
        plugin: Any = broken
        manifest = ToyRig().manifest

    [check] = [each for each in contract_rows() if each.name == row]
    with pytest.raises(AssertionError):
        await check.run(BrokenRig)


def test_a_row_is_left_out_only_with_a_reason() -> None:
    assert len(contract_rows({"status_500_is_retryable": "the service never fails"})) == len(contract_rows()) - 1
    with pytest.raises(ValueError, match="no row 'nothing'"):
        contract_rows({"nothing": "a reason"})
    with pytest.raises(ValueError, match="say why"):
        contract_rows({"status_500_is_retryable": " "})


def test_the_toy_runner_has_less_than_150_lines() -> None:
    files = ToyRig.plugin.rglob("*.*")
    assert sum(len(each.read_text().splitlines()) for each in files if each.suffix in (".py", ".yaml")) < 150
