"""The send log in memory passes its contract suite."""

import pytest

from parlour.testing.handovers_contract import HandoversContract, Lives
from parlour.testing.memory_handovers import MemoryHandovers


class TestMemorySendLog(HandoversContract):
    @pytest.fixture
    def lives(self) -> Lives:
        kept = MemoryHandovers()
        return lambda: kept


async def test_after_a_loss_of_power_everything_is_uncertain() -> None:
    handovers = MemoryHandovers()
    await handovers.load([])
    handovers.record_start("a")
    handovers.record_acknowledgement("a", "1")
    handovers.lose()
    await handovers.load(["a", "b"])
    assert handovers.was_started("a")
    assert handovers.was_started("b")
    assert handovers.message_id("a") is None
