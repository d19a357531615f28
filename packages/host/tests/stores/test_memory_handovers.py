"""The notes in memory keep the contract of handovers."""

import pytest

from parlour.testing.handovers_contract import HandoversContract, Lives
from parlour.testing.memory_handovers import MemoryHandovers


class TestMemoryHandovers(HandoversContract):
    @pytest.fixture
    def lives(self) -> Lives:
        kept = MemoryHandovers()
        return lambda: kept


async def test_after_a_loss_of_power_everything_is_uncertain() -> None:
    handovers = MemoryHandovers()
    await handovers.take_up([])
    handovers.begin("a")
    handovers.answered("a", "1")
    handovers.lose()
    await handovers.take_up(["a", "b"])
    assert handovers.begun("a")
    assert handovers.begun("b")
    assert handovers.answer("a") is None
