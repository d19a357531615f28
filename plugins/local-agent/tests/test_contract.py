"""Tests that the local agent keeps the contract of runners."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from parlour_sdk.testing import FakeHost, reply, tool_call
from parlour_sdk.testing.runners import ContractRow, RunnerRig, contract_rows
from parlour_sdk.testing.runners.contract import service_row_names

NOT_APPLICABLE = dict.fromkeys(service_row_names(), "the Host calls the models, and keeps the conversation")


async def wait() -> str:
    await asyncio.Event().wait()
    return ""


class LocalRig(RunnerRig):
    plugin = Path(__file__).parents[1]
    script: Any = ""

    def answer(self, *pieces: str) -> None:
        self.script = reply(*pieces)

    def hold(self, piece: str) -> None:
        self.script = reply(piece, tool_calls=[tool_call("wait")])

    def config(self) -> dict[str, Any]:
        return {"model": {"primary": "m", "fallbacks": []}, "tools": ["wait"]}

    def host(self) -> FakeHost:
        return FakeHost(models={"m": self.script}, tools={"wait": wait})


@pytest.mark.parametrize("row", contract_rows(NOT_APPLICABLE), ids=str)
async def test_the_local_agent_keeps_the_contract(row: ContractRow) -> None:
    await row.run(LocalRig)
