"""The proxy of a bot is a part of its form, is checked and sealed, and is used by every adapter that connects out."""

import asyncio

import pytest
from websockets.asyncio.server import ServerConnection, serve

from parlour.core.backoff import Backoff
from parlour.core.platforms.bot_config import BotConfiguration, InvalidBotConfig, build_configuration
from parlour.core.platforms.port import PlatformOffline
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.telegram.adapter import TelegramAdapter
from parlour.testing.memory_link import MemoryLink
from parlour.testing.network import free_port
from parlour.testing.proxy_server import running_proxy
from parlour.testing.telegram_simulator import Simulator

from .secret_boxes import MarkingBox

PASSWORD = "pr0xy-password"


def configure(adapter: str, **fields: str) -> BotConfiguration:
    catalogue = BuiltinAdapterCatalogue()
    manifest = catalogue.manifests()[adapter]
    empty = BotConfiguration({}, {})
    return build_configuration(
        manifest, fields, empty, MarkingBox(), lambda config: catalogue.config_problems(adapter, config)
    )


@pytest.mark.parametrize("adapter", ["telegram", "matrix", "onebot11"])
def test_every_adapter_that_connects_out_asks_for_a_proxy(adapter: str) -> None:
    manifest = BuiltinAdapterCatalogue().manifests()[adapter]
    items = {item.name: item for item in manifest.config}
    assert items["proxy"].type == "string"
    assert items["proxy_password"].type == "secret"
    assert "proxy" in manifest.address_fields
    assert items["proxy"].show_if == ({"mode": "forward"} if adapter == "onebot11" else None)
    assert {"en_US", "zh_Hans"} == set(items["proxy"].description or {})


def test_the_password_is_sealed_and_the_address_is_shown() -> None:
    made = configure("telegram", token="1:a", mode="polling", proxy="socks5://ann@host:1080", proxy_password=PASSWORD)
    assert made.config["proxy"] == "socks5://ann@host:1080"
    assert PASSWORD not in str(made.config)
    assert made.secrets["proxy_password"] == f"sealed {PASSWORD}"


@pytest.mark.parametrize("address", ["gopher://host", "host", "http://ann:secret@host:1"])
def test_an_address_that_cannot_be_used_is_refused_at_its_field(address: str) -> None:
    with pytest.raises(InvalidBotConfig) as refusal:
        configure("telegram", token="1:a", mode="polling", proxy=address)
    assert [field for field, _ in refusal.value.problems] == ["proxy"]
    assert "secret" not in refusal.value.problems[0][1]


@pytest.mark.parametrize("scheme", ["http", "socks5h"])
async def test_telegram_receives_and_sends_through_the_proxy_of_the_bot(scheme: str) -> None:
    simulator = Simulator()
    simulator.world.person(1, "Ann")
    async with simulator.listening() as url:
        target = url.rpartition("//")[2]
        with running_proxy({"api.telegram.test:80": target}, f"ann:{PASSWORD}") as proxy:
            link = MemoryLink(
                {
                    "token": simulator.token,
                    "mode": "polling",
                    "api_base_url": "http://api.telegram.test",
                    "proxy": f"{scheme}://ann@127.0.0.1:{proxy.port}",
                    "proxy_password": PASSWORD,
                }
            )
            adapter = TelegramAdapter(link, Backoff(0.01))
            work = asyncio.create_task(adapter.serve())
            await link.until(lambda: link.now[0] == "connected")
            await simulator.say("hello", user=1)
            await link.events(1)
            work.cancel()
            await asyncio.wait([work])
            assert proxy.next_target().endswith("api.telegram.test:80")


async def test_telegram_names_a_proxy_that_is_offline_and_not_its_password() -> None:
    port = free_port()
    config = {"token": "1:abc", "mode": "polling", "proxy": f"http://ann@127.0.0.1:{port}", "proxy_password": PASSWORD}
    link = MemoryLink(config)
    adapter = TelegramAdapter(link, Backoff(0.01))
    work = asyncio.create_task(adapter.serve())
    await link.until(lambda: bool(link.now[1]))
    with pytest.raises(PlatformOffline, match=f"the proxy http://127.0.0.1:{port} can't be reached"):
        await adapter.api().get_user_info("1")
    work.cancel()
    await asyncio.wait([work])
    assert f"the proxy http://127.0.0.1:{port} can't be reached" in link.states[-1][1]
    assert PASSWORD not in str(link.states)


@pytest.mark.parametrize("adapter", ["onebot11", "matrix"])
async def test_onebot_and_matrix_connect_through_the_proxy_of_the_bot(adapter: str) -> None:
    reached = asyncio.Event()

    async def peer(connection: ServerConnection) -> None:
        reached.set()
        await connection.wait_closed()

    async with serve(peer, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        with running_proxy({"chat.test:80": f"127.0.0.1:{port}"}) as proxy:
            link = MemoryLink(
                {
                    "mode": "forward",
                    "url": "ws://chat.test:80",
                    "homeserver": "http://chat.test",
                    "user": "@bot:chat.test",
                    "access_token": "token",
                    "proxy": f"socks5h://127.0.0.1:{proxy.port}",
                }
            )
            work = asyncio.create_task(BuiltinAdapterCatalogue().create(adapter, link).serve())
            if adapter == "onebot11":
                async with asyncio.timeout(10):
                    await reached.wait()
            assert await asyncio.to_thread(proxy.next_target) == "socks chat.test:80"
            work.cancel()
            await asyncio.wait([work])
