"""Tests that the echo agent keeps the contract of runners."""

from pathlib import Path
from typing import Any

import pytest

from parlour_sdk.testing.runners import ContractRow, RunnerRig, contract_rows
from parlour_sdk.testing.runners.contract import service_row_names

NOT_APPLICABLE = dict.fromkeys(service_row_names(), "the echo agent calls no service")


class EchoRig(RunnerRig):
    plugin = Path(__file__).parents[1]
    hold_ms = 0

    def answer(self, *pieces: str) -> None:
        self.said = "".join(pieces)

    def hold(self, piece: str) -> None:
        self.said, self.hold_ms = piece, 60_000

    def config(self) -> dict[str, Any]:
        return {"hold_ms": self.hold_ms}


@pytest.mark.parametrize("row", contract_rows(NOT_APPLICABLE), ids=str)
async def test_the_echo_agent_keeps_the_contract(row: ContractRow) -> None:
    await row.run(EchoRig)
