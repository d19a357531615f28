"""HTTP requests go through a real proxy process, with its credentials, and a failing proxy is named."""

from collections.abc import Iterator

import pytest
from aiohttp import ClientTimeout, web

from parlour.network.http_session import ProxyFailed, ProxySession
from parlour.network.proxies import ProxySettings
from parlour.testing.network import free_port
from parlour.testing.proxy_server import ProxyServer, running_proxy

CREDENTIALS = "ann:p%w@rd"
NAME = "api.chat.test"
PORT = free_port()


@pytest.fixture(scope="module")
def proxy() -> Iterator[ProxyServer]:
    """A proxy that asks for credentials and alone knows the name of the service."""
    with running_proxy({f"{NAME}:80": f"127.0.0.1:{PORT}", f"{NAME}:443": f"127.0.0.1:{PORT}"}, CREDENTIALS) as server:
        yield server


@pytest.fixture
async def _service() -> object:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=f"{request.method} {request.path_qs} {request.headers['Host']}")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", PORT).start()
    yield
    await runner.cleanup()


def settings(proxy: ProxyServer, scheme: str, password: str = "p%w@rd") -> ProxySettings:
    return ProxySettings.from_fields(f"{scheme}://ann@127.0.0.1:{proxy.port}", password)


async def fetch(proxies: ProxySettings, url: str) -> str:
    session = ProxySession(proxies)
    try:
        async with session.request("GET", url, timeout=ClientTimeout(total=10)) as response:
            return await response.text()
    finally:
        await session.close()


@pytest.mark.usefixtures("_service")
@pytest.mark.parametrize(("scheme", "kind"), [("http", "forward"), ("socks5h", "socks")])
async def test_a_request_goes_through_the_proxy_which_resolves_the_name(
    proxy: ProxyServer, scheme: str, kind: str
) -> None:
    assert await fetch(settings(proxy, scheme), f"http://{NAME}/a%2Fb?c=d") == f"GET /a%2Fb?c=d {NAME}"
    assert proxy.next_target() == f"{kind} {NAME}:80"


@pytest.mark.usefixtures("_service")
async def test_socks5_resolves_the_name_on_this_machine(proxy: ProxyServer) -> None:
    assert (await fetch(settings(proxy, "socks5"), f"http://localhost:{PORT}/")).startswith("GET /")
    assert proxy.next_target() == f"socks 127.0.0.1:{PORT}"


@pytest.mark.usefixtures("_service")
async def test_the_environment_chooses_the_proxy_and_no_proxy_avoids_it(proxy: ProxyServer) -> None:
    address = f"http://ann:p%25w%40rd@127.0.0.1:{proxy.port}"
    environment = {"HTTP_PROXY": address, "NO_PROXY": "direct.example"}
    assert (await fetch(ProxySettings.from_environment(environment), f"http://{NAME}/")).startswith("GET / ")
    assert proxy.next_target() == f"forward {NAME}:80"
    assert (await fetch(ProxySettings.from_environment(environment), f"http://127.0.0.1:{PORT}/")).startswith("GET / ")
    assert proxy.targets() == []


async def test_https_opens_a_tunnel(proxy: ProxyServer) -> None:
    """The service speaks no TLS; that the tunnel was opened is what the proxy reports."""
    for scheme, kind in (("http", "connect"), ("socks5h", "socks")):
        with pytest.raises(OSError, match=r".*"):
            await fetch(settings(proxy, scheme), f"https://{NAME}/")
        assert proxy.next_target() == f"{kind} {NAME}:443"


@pytest.mark.parametrize("scheme", ["http", "socks5h"])
@pytest.mark.parametrize("target", [f"http://{NAME}/", f"https://{NAME}/"])
async def test_a_wrong_password_is_named_and_not_repeated(proxy: ProxyServer, scheme: str, target: str) -> None:
    with pytest.raises(ProxyFailed) as failure:
        await fetch(settings(proxy, scheme, "wrong-password"), target)
    assert f"the proxy {scheme}://127.0.0.1:{proxy.port} refused" in str(failure.value)
    assert "wrong-password" not in str(failure.value)
    assert proxy.targets() == []


@pytest.mark.parametrize("scheme", ["http", "socks5"])
async def test_a_proxy_that_is_not_there_is_named(scheme: str) -> None:
    port = free_port()
    with pytest.raises(ProxyFailed, match=f"the proxy {scheme}://127.0.0.1:{port} can't be reached: .+"):
        await fetch(ProxySettings.from_fields(f"{scheme}://127.0.0.1:{port}"), "http://127.0.0.1:1/")
