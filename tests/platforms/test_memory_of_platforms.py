"""Measures the memory of a Host with one idle bot of each platform."""

from contextlib import AsyncExitStack

import pytest

from tests.platforms.drivers import PLATFORMS
from tests.platforms.hooked_bots import hooked_bot
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, Host

FIRST = ("discord", "slack", "kook", "line", "satori", "email", "whatsapp", "mattermost", "irc")
SECOND = ("lark", "dingtalk", "qqofficial", "wecom", "wecombot", "wecomcs", "officialaccount", "wechat")
MAX_FIRST_MEGABYTES, MAX_ALL_MEGABYTES, MAX_MEAN_MEGABYTES = 190.0, 260.0, 8.0


@pytest.mark.long
async def test_idle_bots_of_all_platforms_need_little_memory(tmp_path_factory: pytest.TempPathFactory) -> None:
    host = Host(tmp_path_factory.mktemp("own host"), **NO_RUN_LIMITS)
    host.install(ECHO_PLUGIN)
    host.start()
    figures: dict[str, float] = {}
    try:
        echo = host.agent(ECHO, "echo")
        before = last = _pss(host)
        async with AsyncExitStack() as stack:
            for name in (each for each in (*FIRST, *SECOND) if each in PLATFORMS):
                await stack.enter_async_context(hooked_bot(host, PLATFORMS[name].driver(), echo))
                figures[name], last = _pss(host) - last, _pss(host)
                if name in FIRST:
                    first = last
    finally:
        host.close()
    assert first < MAX_FIRST_MEGABYTES, figures
    assert last < MAX_ALL_MEGABYTES, figures
    assert (last - before) / len(figures) < MAX_MEAN_MEGABYTES, figures
    assert figures.keys() == {*FIRST, *SECOND} & PLATFORMS.keys()


def _pss(host: Host) -> float:
    """Returns the proportional set size of the Host's process in megabytes."""
    return float(host.process.memory_full_info().pss) / 2**20
