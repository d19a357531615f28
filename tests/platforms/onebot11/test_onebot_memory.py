"""Tests the memory of fifty idle bots in one Host."""

from pathlib import Path

import psutil
import pytest

from tests.support.harness import Host

from .qq import QQ, eventually

BOTS = 50
MAX_MEGABYTES = 250


@pytest.mark.long
async def test_fifty_idle_bots_stay_below_250_megabytes(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.start()
    try:
        bots = [QQ(host).bot() for _ in range(BOTS)]
        for bot in bots:
            await eventually(lambda bot=bot: bot.status["last_error"] or "", "the bot listens")  # type: ignore[misc]
        assert memory(host) < MAX_MEGABYTES
    finally:
        host.close()


def memory(host: Host) -> float:
    """Returns the memory of the Host and all its processes."""
    processes: list[psutil.Process] = [host.process, *host.process.children(recursive=True)]
    return sum(each.memory_info().rss for each in processes) / 2**20
