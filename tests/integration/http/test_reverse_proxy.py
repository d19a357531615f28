"""Tests a Host behind a real nginx and Caddy with TLS, under another name, with and without a path prefix."""

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from parlour.testing.onebot_simulator import Simulator as OneBotSimulator
from parlour.testing.telegram_simulator import Simulator
from tests.integration.conftest import MakeHost
from tests.support.caddy import Caddy
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_TLS, Host, error_code, eventually
from tests.support.nginx import Nginx
from tests.support.tls_proxy import PREFIX, TlsProxy

NAME = "chat.example.org"
OWNER = {"email": "owner@example.org", "password": "correct horse battery"}
ONEBOT_TOKEN = "a-token-of-the-implementation"
BELOW_A_BASE_PATH = {
    "PARLOUR__HTTP__PUBLIC_URL": "https://chat.example.org",
    "PARLOUR__HTTP__BASE_PATH": "/parlour",
}
PROXY_SIGNS = (
    {"Host": NAME},
    {"X-Forwarded-For": "203.0.113.7"},
    {"Forwarded": "for=127.0.0.1;host=localhost"},
    {"X-Forwarded-Host": "localhost", "Via": "1.1 proxy"},
)
"""Headers that show that a request does not come straight from this machine."""


@dataclass
class Proxied:
    host: Host
    proxy: TlsProxy
    prefix: str

    @property
    def origin(self) -> str:
        return self.proxy.url

    def client(self, address: str = "127.0.0.1") -> httpx.Client:
        """Returns a browser at this address of the machine. The proxy is at 127.0.0.1."""
        return httpx.Client(
            base_url=f"{self.proxy.local_url}{self.prefix}",
            headers={"Host": self.proxy.host, "Origin": self.origin},
            transport=httpx.HTTPTransport(verify=self.proxy.context(), local_address=address),
            timeout=30,
        )

    def token(self) -> str:
        [line] = [line for line in self.host.printed() if line.startswith("set-up token for the first owner: ")]
        return line.rpartition(" ")[2]


PROXIES = [
    "a name of its own",
    "a prefix that is passed on",
    "a prefix that is taken away",
    pytest.param("Caddy: a name of its own", marks=pytest.mark.long),
    pytest.param("Caddy: a prefix that is passed on", marks=pytest.mark.long),
]


@pytest.fixture(scope="module", params=PROXIES)
def proxied(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    folder = tmp_path_factory.mktemp("proxied")
    prefix = PREFIX if "prefix" in request.param else ""
    proxy = (Caddy if "Caddy" in request.param else Nginx)(folder / "proxy", NAME)
    settings = {
        "PARLOUR__HTTP__PUBLIC_URL": f"{proxy.url}{prefix}",
        "PARLOUR__HTTP__TRUSTED_PROXIES": "127.0.0.1",
    }
    host = Host(folder, **settings)
    host.install(ECHO_PLUGIN)
    try:
        host.start()
        proxy.start(host.address, bool(prefix), keeps_prefix="taken away" not in request.param)
        yield Proxied(host, proxy, prefix)
    finally:
        proxy.stop()
        host.close()


@pytest.fixture(scope="module")
def owner(proxied: Proxied) -> Iterator[httpx.Client]:
    """Returns the browser of the first owner."""
    with proxied.client("127.0.0.2") as client:
        state = client.get("/api/v1/auth/setup").json()
        without = client.post("/api/v1/auth/setup", json=OWNER)
        made = client.post("/api/v1/auth/setup", json={**OWNER, "token": proxied.token()})
        assert state == {"needed": True, "token_required": True}
        assert (without.status_code, error_code(without)) == (403, "forbidden")
        assert made.status_code == 201, made.text
        client.headers["X-CSRF-Token"] = made.json()["csrf_token"]
        yield client


def test_a_session_is_kept_below_the_prefix_and_over_tls_only(proxied: Proxied, owner: httpx.Client) -> None:
    again = owner.post("/api/v1/auth/login", json=OWNER)
    cookie = again.headers["set-cookie"]

    assert f"Path={proxied.prefix or '/'};" in cookie
    assert "Secure" in cookie
    owner.headers["X-CSRF-Token"] = again.json()["csrf_token"]
    assert owner.get("/api/v1/auth/me").json()["email"] == OWNER["email"]


def test_a_page_of_another_site_gets_nothing(proxied: Proxied, owner: httpx.Client) -> None:
    for origin in ("https://evil.example", f"http://{proxied.proxy.host.replace(NAME, 'evil.example')}"):
        answer = owner.get("/api/v1/agents", headers={"Origin": origin})
        assert (answer.status_code, error_code(answer)) == (403, "forbidden")


@pytest.mark.parametrize("place", ["/", "/runs/01992f1c", "/chat/some/where"])
def test_the_page_finds_all_its_files_at_every_path(proxied: Proxied, place: str) -> None:
    with proxied.client() as client:
        page = client.get(place, headers={"Accept": "text/html"})
        files = re.findall(r'(?:src|href)="([^"]+)"', page.text)
        found = [client.get(f"{proxied.proxy.local_url}{file}") for file in files]

    assert page.status_code == 200
    assert f'name="base-path" content="{proxied.prefix}/"' in page.text
    assert len(files) > 3
    assert all(file.startswith(f"{proxied.prefix}/") for file in files)
    assert {answer.status_code for answer in found} == {200}
    assert "text/html" not in {answer.headers["content-type"].partition(";")[0] for answer in found}


def test_a_redirect_leads_below_the_prefix_over_tls(proxied: Proxied, owner: httpx.Client) -> None:
    answer = owner.get("/api/v1/agents/")

    assert answer.status_code == 307
    assert answer.headers["location"] == f"{proxied.origin}{proxied.prefix}/api/v1/agents"


def test_files_are_uploaded_and_downloaded(proxied: Proxied, owner: httpx.Client) -> None:
    content = bytes(range(256)) * 4096

    sent = owner.post("/api/v1/files", files={"file": ("all.bin", content)})

    assert sent.status_code == 201, sent.text
    assert owner.get(f"/api/v1/artifacts/{sent.json()['artifact_id']}/content").content == content


def test_a_webhook_shows_its_full_address(proxied: Proxied, owner: httpx.Client) -> None:
    agent = proxied.host.agent(ECHO, event_types=["api.invoked"])
    answer = owner.post("/api/v1/webhooks", json={"name": "Pushes", "agent_id": agent})
    assert answer.status_code == 201, answer.text
    made = answer.json()

    assert made["url"] == f"{proxied.origin}{proxied.prefix}{made['path']}"


async def test_the_chat_works_through_the_proxy(proxied: Proxied, owner: httpx.Client) -> None:
    agent = await asyncio.to_thread(proxied.host.agent, ECHO)
    url = f"{proxied.origin}{proxied.prefix}/api/v1/agents/{agent}/chat/ws".replace("https", "wss")
    headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in owner.cookies.items())}
    nginx: dict[str, Any] = {"host": "127.0.0.1", "ssl": proxied.proxy.context(), "origin": proxied.origin}
    said: list[str] = []
    async with asyncio.timeout(30):
        async with connect(url, additional_headers=headers, **nginx) as socket:
            await socket.send(json.dumps({"type": "message", "text": "through the proxy"}))
            while not said:
                frame = json.loads(await socket.recv())
                said += [frame["message"]["content"]] if frame["type"] == "message" else []

    assert said == ["through the proxy"]


@pytest.mark.long
def test_a_file_of_fifty_megabytes_passes_the_proxy(proxied: Proxied, owner: httpx.Client) -> None:
    content = bytes(range(256)) * (50 * 4096)

    sent = owner.post("/api/v1/files", files={"file": ("large.bin", content)})

    assert sent.status_code == 201, sent.text
    assert owner.get(f"/api/v1/artifacts/{sent.json()['artifact_id']}/content").content == content


@pytest.mark.long
async def test_a_silent_chat_stays_open_for_longer_than_the_proxys_own_limit(
    proxied: Proxied, owner: httpx.Client
) -> None:
    agent = await asyncio.to_thread(proxied.host.agent, ECHO)
    url = f"{proxied.origin}{proxied.prefix}/api/v1/agents/{agent}/chat/ws".replace("https", "wss")
    headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in owner.cookies.items())}
    proxy: dict[str, Any] = {"host": "127.0.0.1", "ssl": proxied.proxy.context(), "origin": proxied.origin}
    async with connect(url, additional_headers=headers, ping_interval=None, **proxy) as socket:
        silent = asyncio.create_task(until_message(socket))
        assert await asyncio.wait([silent], timeout=65) == (set(), {silent}), "nginx itself closes after 60 seconds"
        await socket.send(json.dumps({"type": "message", "text": "still here"}))
        frame = await asyncio.wait_for(silent, 30)

    assert frame["message"]["content"] == "still here"


async def until_message(socket: ClientConnection) -> dict[str, Any]:
    while (frame := json.loads(await socket.recv()))["type"] != "message":
        pass
    return dict(frame)


@pytest.mark.long
async def test_events_pass_the_proxy_while_the_answer_is_written(proxied: Proxied) -> None:
    """The agent waits for a second between two words, so a proxy that collects the answer gives all at once."""
    agent = await asyncio.to_thread(proxied.host.agent, config={"delay_ms": 1000}, published=["openai"])
    body = {"model": f"agent:{agent}", "stream": True, "messages": [{"role": "user", "content": "one two three"}]}
    key = await asyncio.to_thread(proxied.host.key, "chat")
    transport = httpx.AsyncHTTPTransport(verify=proxied.proxy.context())
    headers = {"Host": proxied.proxy.host, "Authorization": f"Bearer {key}"}
    url = f"{proxied.proxy.local_url}{proxied.prefix}/v1/chat/completions"
    loop, arrivals = asyncio.get_running_loop(), []
    async with (
        httpx.AsyncClient(transport=transport, headers=headers, timeout=30) as client,
        client.stream("POST", url, json=body) as answer,
    ):
        assert answer.status_code == 200, await answer.aread()
        async for line in answer.aiter_lines():
            arrivals += [loop.time()] if '"content"' in line else []

    assert len(arrivals) >= 3
    assert arrivals[-1] - arrivals[0] > 1


def onebot_bot(owner: httpx.Client, agent: str) -> str:
    config = {"mode": "reverse", "port": 0, "access_token": ONEBOT_TOKEN}
    made = owner.post("/api/v1/bots", json={"name": "qq", "adapter": "onebot11", "adapter_config": config})
    assert made.status_code == 201, made.text
    bot_id = str(made.json()["bot_id"])
    routes = [{"event_type": "*", "handler_type": "agent", "handler_config": {"agent_id": agent}}]
    assert owner.put(f"/api/v1/bots/{bot_id}/routes", json=routes).status_code == 200
    return bot_id


async def test_a_onebot_implementation_connects_through_the_proxy(proxied: Proxied, owner: httpx.Client) -> None:
    bot = await asyncio.to_thread(onebot_bot, owner, proxied.host.agent(ECHO))
    url = f"{proxied.origin}{proxied.prefix}/hooks/{bot}/onebot/v11/ws".replace("https", "wss")
    options = {"host": "127.0.0.1", "ssl": proxied.proxy.context()}

    def last_error_has(words: str) -> bool:
        return words in (owner.get(f"/api/v1/bots/{bot}").json()["status"]["last_error"] or "")

    await asyncio.to_thread(eventually, lambda: last_error_has(url), "the bot says where to connect")
    stranger, simulator = OneBotSimulator(10001, "wrong"), OneBotSimulator(10001, ONEBOT_TOKEN)
    stranger.connect_options = simulator.connect_options = options
    async with stranger.connecting(url, **{"X-Forwarded-For": "203.0.113.7"}):
        await stranger.until(lambda: stranger.refusal == 401)
    await asyncio.to_thread(eventually, lambda: last_error_has("at 127.0.0.1 was refused"), "the refusal is shown")
    async with simulator.connecting(url):
        await simulator.say("through the proxy", user_id=11)
        assert [each.text for each in await simulator.answered(1)] == ["through the proxy"]
        await simulator.cut()
        await simulator.say("and again", user_id=11)
        assert [each.text for each in await simulator.answered(2)] == ["through the proxy", "and again"]
    with pytest.raises(InvalidStatus) as refused:
        async with connect(
            url, additional_headers={"Authorization": f"Bearer {ONEBOT_TOKEN}"}, origin=proxied.origin, **options
        ):
            pass
    assert refused.value.response.status_code == 403
    assert ONEBOT_TOKEN not in proxied.host.log()


def test_password_guesses_of_one_address_do_not_delay_other_clients(proxied: Proxied, owner: httpx.Client) -> None:
    def tries(client: httpx.Client, number: int, **headers: str) -> list[int]:
        names = (f"{client.base_url.path}{len(headers)}{each}@example.org" for each in range(number))
        bodies = ({"email": name, "password": "not the one"} for name in names)
        return [client.post("/api/v1/auth/login", json=body, headers=headers).status_code for body in bodies]

    with proxied.client("127.0.0.3") as guesser, proxied.client("127.0.0.4") as other:
        assert tries(guesser, 6) == [401] * 5 + [429]
        pretended = {"X-Forwarded-For": "203.0.113.7", "Forwarded": "for=203.0.113.7", "X-Real-IP": "203.0.113.7"}
        assert tries(guesser, 1, **pretended) == [429]
        assert tries(other, 1) == [401]


def test_forwarded_headers_of_an_untrusted_client_are_ignored(make_host: MakeHost) -> None:
    host = make_host(PARLOUR__HTTP__TRUSTED_PROXIES="10.255.255.1").start()
    body = {"email": "nobody@example.org", "password": "not the one"}
    with httpx.Client(base_url=f"{host.address}/api/v1", verify=NO_TLS, timeout=30) as client:
        answers = [
            client.post(
                "/auth/login",
                json={**body, "email": f"{each}@example.org"},
                headers={"X-Forwarded-For": f"203.0.113.{each}", "X-Forwarded-Proto": "https"},
            ).status_code
            for each in range(6)
        ]

    assert answers == [401] * 5 + [429]


def test_the_first_owner_behind_an_unconfigured_proxy_needs_the_token(make_host: MakeHost, tmp_path: Path) -> None:
    """An nginx without any settings hides the client and its own name behind `Host: 127.0.0.1`."""
    host = make_host(PARLOUR__HTTP__NAMES=NAME).start()
    nginx = Nginx(tmp_path / "nginx", NAME)
    nginx.start(host.address, bare=True)
    try:
        with httpx.Client(base_url=f"{nginx.local_url}/api/v1", verify=nginx.context(), timeout=30) as client:
            through_nginx = client.post("/auth/setup", json=OWNER)
    finally:
        nginx.stop()
    with httpx.Client(base_url=f"{host.address}/api/v1", verify=NO_TLS, timeout=30) as client:
        states = [client.get("/auth/setup", headers=each).json()["token_required"] for each in PROXY_SIGNS]
        refused = [client.post("/auth/setup", json=OWNER, headers=each) for each in PROXY_SIGNS]
        local = client.get("/auth/setup").json()
        made = client.post("/auth/setup", json={**OWNER, "token": ""})

    assert states == [True] * len(PROXY_SIGNS)
    assert {(each.status_code, error_code(each)) for each in (through_nginx, *refused)} == {(403, "forbidden")}
    assert local == {"needed": True, "token_required": False}
    assert made.status_code == 201, made.text


def test_the_first_owners_session_is_kept_below_a_base_path(make_host: MakeHost) -> None:
    host = make_host(PARLOUR__HTTP__BASE_PATH="/parlour").start()
    assert host.address.endswith("/parlour")
    with httpx.Client(base_url=f"{host.address}/api/v1", verify=NO_TLS, timeout=30) as client:
        token = next(line for line in host.printed() if line.startswith("set-up token")).rpartition(" ")[2]
        made = client.post("/auth/setup", json={**OWNER, "token": token})
        assert made.status_code == 201, made.text
        assert "Path=/parlour;" in made.headers["set-cookie"]
        assert client.get("/auth/me").json()["email"] == OWNER["email"]
        left = client.post("/auth/logout", headers={"X-CSRF-Token": made.json()["csrf_token"]})
        assert "Path=/parlour;" in left.headers["set-cookie"]


def test_a_webhooks_address_has_the_base_path_that_the_public_address_leaves_out(make_host: MakeHost) -> None:
    host = make_host(ECHO_PLUGIN, **BELOW_A_BASE_PATH).start()
    agent = host.agent(ECHO, event_types=["api.invoked"])
    made = host.http().post("/webhooks", json={"name": "Pushes", "agent_id": agent}).json()

    assert made["url"] == f"https://chat.example.org/parlour{made['path']}"
    assert "from outside: https://chat.example.org/parlour" in host.printed()


@pytest.mark.parametrize(
    "settings",
    [{"PARLOUR__HTTP__PUBLIC_URL": "https://chat.example.org/parlour/"}, BELOW_A_BASE_PATH],
    ids=["in the public address", "in the base path"],
)
async def test_telegram_receives_the_public_address(make_host: MakeHost, settings: dict[str, str]) -> None:
    host = make_host(**settings).start()
    simulator = Simulator()
    async with simulator.listening() as address:
        config = {"token": simulator.token, "mode": "webhook", "api_base_url": address}
        body = {"name": "Telegram", "adapter": "telegram", "adapter_config": config}
        bot = await asyncio.to_thread(lambda: host.http().post("/bots", json=body).json())
        await simulator.until(lambda: bool(simulator.updates.webhook))

    assert simulator.updates.webhook["url"] == f"https://chat.example.org/parlour/hooks/{bot['bot_id']}"
