"""The send log in memory passes its contract suite."""

import pytest

from parlour.testing.memory_send_log import MemorySendLog
from parlour.testing.send_log_contract import OpenSendLog, SendLogContract


class TestMemorySendLog(SendLogContract):
    @pytest.fixture
    def open_log(self) -> OpenSendLog:
        records = MemorySendLog()
        return lambda: records


async def test_after_a_loss_of_power_everything_is_uncertain() -> None:
    log = MemorySendLog()
    await log.load([])
    log.record_start("a")
    log.record_acknowledgement("a", "1")
    log.lose()
    await log.load(["a", "b"])
    assert log.was_started("a")
    assert log.was_started("b")
    assert log.message_id("a") is None
