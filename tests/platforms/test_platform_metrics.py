"""Tests that the metrics count events, sends and lost connections by platform, under labels of a fixed set."""

from prometheus_client.parser import text_string_to_metric_families

from tests.platforms.drivers import PLATFORMS
from tests.platforms.hooked_bots import hooked_bot
from tests.platforms.onebot11.qq import eventually
from tests.support.harness import Host

Sample = tuple[str, tuple[tuple[str, str], ...]]


def figures(host: Host) -> dict[Sample, float]:
    text = host.http(host.key("viewer")).get(f"{host.address}/metrics").text
    samples = (sample for family in text_string_to_metric_families(text) for sample in family.samples)
    return {(each.name, tuple(sorted(each.labels.items()))): each.value for each in samples}


async def test_events_sends_and_lost_connections_are_counted_by_platform(platform_host: Host, echo: str) -> None:
    line, discord = PLATFORMS["line"].driver(), PLATFORMS["discord"].driver()
    before = figures(platform_host)

    def gained(name: str, **labels: str) -> float:
        sample = (name, tuple(sorted(labels.items())))
        return figures(platform_host).get(sample, 0) - before.get(sample, 0)

    async with hooked_bot(platform_host, line, echo), hooked_bot(platform_host, discord, echo):
        now = figures(platform_host)
        assert now["parlour_platform_bots", (("platform", "line"), ("state", "connected"))] >= 1
        chat = await line.chat()
        await line.say(chat, "hello")
        await line.until(lambda: line.read(chat) == ["hello"])
        await line.repeat()
        line.refuse_send()
        await line.say(chat, "refused")
        await line.deliver({"type": "somethingNew", "webhookEventId": "new", "timestamp": 1, "mode": "active"})
        await eventually(lambda: gained("parlour_platform_events_total", platform="line") == 4, "four events")
        await eventually(
            lambda: gained("parlour_platform_sends_total", platform="line", result="refused") == 1, "a refused send"
        )
        await eventually(
            lambda: gained("parlour_platform_sends_total", platform="line", result="accepted") == 2,
            "the answer, and the notice about the refused one",
        )
        await discord.cut()
        await eventually(
            lambda: gained("parlour_platform_disconnects_total", platform="discord") == 1, "a lost connection"
        )
    assert gained("parlour_platform_disconnects_total", platform="line") == 0
    after = figures(platform_host)
    assert after["parlour_events_total", (("type", "platform.line.*"),)] >= 1
    assert not [name for name, labels in after if any("somethingNew" in value for _, value in labels)]
