"""Everything around the browser: a Host, a model service, accounts on QQ and a login to WeChat, controlled over HTTP.

`python -m tests.e2e.world FOLDER` prints where it listens and ends with its input. What the page shows it can't see.
"""

import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from aiohttp import web

from parlour.testing.network import free_port
from parlour.testing.onebot_simulator import Simulator, native
from parlour.testing.wechat_simulator import WechatSimulator
from tests.integration.harnesses.conftest import scripted_config
from tests.support.commands import parlour_here
from tests.support.harness import ECHO_PLUGIN, NO_RUN_LIMITS, ROOT, Host
from tests.support.nginx import PREFIX, Nginx

from .model import ScriptedModel
from .past import write_past

DOORKEEPER_PLUGIN = ROOT / "tests" / "fixtures" / "plugins" / "doorkeeper_agent.py"
PROXY_NAME = "chat.localhost"
"""Browsers find every name below `localhost` on this machine; to a Host it is as foreign as any other."""
Json = dict[str, Any]


class PageHost(Host):
    """Runs a Host that keeps its address over restarts, so that an open page can reconnect."""

    def __init__(self, folder: Path) -> None:
        programs = {"PARLOUR__PROGRAMS__FOLDERS": str(Path(sys.executable).parent)}
        super().__init__(folder, PARLOUR__PLUGINS__BUNDLED="true", **programs, **NO_RUN_LIMITS)
        self._port = free_port()

    def expect_proxy(self, public_url: str) -> None:
        """Configures the address of a reverse proxy. Call it before the Host starts."""
        self._environment["PARLOUR__HTTP__PUBLIC_URL"] = public_url
        self._environment["PARLOUR__HTTP__TRUSTED_PROXIES"] = "127.0.0.1"

    def _command(self) -> list[str]:
        return [*super()._command()[:-1], str(self._port)]

    def use_old_bubblewrap(self) -> None:
        """Configures a bubblewrap that fails like versions that are too old for the sandbox."""
        program = self.home.parent / "old bwrap"
        program.write_text("#!/bin/sh\necho 'bwrap: Unknown option --disable-userns' >&2\nexit 1\n", encoding="utf-8")
        program.chmod(0o755)
        self._environment = {**self._environment, "PARLOUR__PLUGINS__BUBBLEWRAP": str(program)}


class World:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._host = PageHost(folder)
        self._model = ScriptedModel()
        self._accounts: dict[int, Simulator] = {}
        self._wechat = WechatSimulator()
        self._running = AsyncExitStack()

    async def serve(self) -> None:
        application = web.Application()
        application.router.add_post("/model/{path:.*}", self._model.serve)
        application.router.add_post("/{command}", self._run_command)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=0, handler_cancellation=True)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self._address = f"http://127.0.0.1:{runner.addresses[0][1]}"
        sys.stdout.write(f"{self._address}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)
        await self._running.aclose()
        await runner.cleanup()
        await asyncio.to_thread(self._host.close)

    async def _run_command(self, request: web.Request) -> web.Response:
        """Runs a command: the path names one of the methods below, and the body has its arguments."""
        command = getattr(self, request.match_info["command"])
        return web.json_response({"answer": await command(**await request.json())})

    # --- the Host

    async def start(self, plugins: bool = True, proxied: bool = False, old_bubblewrap: bool = False) -> Json:
        """Starts the Host; with `proxied`, behind an nginx with TLS, another host name and a path prefix."""
        nginx = Nginx(self._folder / "nginx", PROXY_NAME) if proxied else None
        if nginx is not None:
            self._host.expect_proxy(f"{nginx.url}{PREFIX}")
        if old_bubblewrap:
            self._host.use_old_bubblewrap()
        for source in (ECHO_PLUGIN, DOORKEEPER_PLUGIN) if plugins else ():
            await asyncio.to_thread(self._host.install, source)
        await asyncio.to_thread(self._host.start)
        if nginx is not None:
            await asyncio.to_thread(nginx.start, self._host.address, below_prefix=True)
            self._running.callback(nginx.stop)
        key = await asyncio.to_thread(self._host.key)
        started = {"address": self._host.address, "key": key, "model": f"{self._address}/model/v1"}
        return {**started, "public": f"{nginx.url}{PREFIX}" if nginx else "", "printed": self._host.printed()}

    async def install(self, plugin: str) -> None:
        """Installs one of the test plugins into the running Host."""
        await asyncio.to_thread(self._host.install, ROOT / "tests" / "fixtures" / "plugins" / plugin)

    async def write_plugin(self, name: str, code: str, packed: bool = False) -> str:
        """Writes a single-file plugin and returns its path, or the path of its zip."""
        file = self._folder / f"{name}.py"
        file.write_text(code, encoding="utf-8")
        if not packed:
            return str(file)
        archive = self._folder / f"{name}.zip"
        finished = await asyncio.to_thread(parlour_here, "plugin", "build", file, "-o", archive)
        assert finished.returncode == 0, finished.stderr
        return str(archive)

    async def scripted_harness(self) -> Json:
        """Returns the configuration of an agent that uses the scripted coding agent of the tests."""
        return scripted_config()

    async def stop(self) -> None:
        await asyncio.to_thread(self._host.stop)

    async def resume(self) -> None:
        await asyncio.to_thread(self._host.start)

    async def write_past(self, **past: int) -> None:
        """Writes a history into the database. Call it while the Host is stopped."""
        await asyncio.to_thread(write_past, self._host.data / "parlour.db", **past)

    # --- the model

    async def will(self, replies: list[Json]) -> None:
        self._model.will(replies)

    async def open_gate(self, gate: str) -> None:
        self._model.open_gate(gate)

    # --- QQ

    async def port(self) -> int:
        return free_port()

    async def connect(self, port: int, account: int, groups: list[int]) -> None:
        simulator = Simulator(account)
        for group in groups:
            simulator.world.add_group(group, role="admin")
        address = f"ws://127.0.0.1:{port}/onebot/v11/ws?access_token=e2e"  # ignored by a bot without a token
        self._accounts[account] = await self._running.enter_async_context(simulator.connecting(address))

    async def say(self, account: int, text: str, user: int, group: int = 0, name: str = "Ann") -> None:
        at = [native.segment("at", qq=str(account))] if group else []
        sender = {"user_id": user, "nickname": name, "role": "member"}
        await self._accounts[account].say([*at, native.text(text)], user, group_id=group, sender=sender)

    async def answered(self, account: int, number: int) -> list[str]:
        """Waits until the bot has sent this many messages and returns them."""
        return [each.text for each in await self._accounts[account].answered(number)]

    async def called(self, account: int, action: str) -> Json:
        """Waits until the bot calls this action of the platform and returns its parameters."""
        simulator = self._accounts[account]

        def found() -> list[Any]:
            return [each["params"] for each in simulator.requests if each["action"] == action]

        await simulator.until(lambda: bool(found()))
        return dict(found()[-1])

    # --- WeChat

    async def open_gateway(self) -> str:
        """Starts the gateway of WeChat and returns its address."""
        return await self._running.enter_async_context(self._wechat.listening())

    async def move_login(self, status: str, digits: str = "") -> int:
        """Changes the state of the newest QR code, as the phone does that scans it. Returns the number of codes."""
        logins = self._wechat.logins
        logins.newest.digits = digits
        logins.move(logins.newest, status)
        return len(logins.codes)


if __name__ == "__main__":
    asyncio.run(World(Path(sys.argv[1])).serve())
