"""A service with the interface of E2B on this machine: sandboxes, their files and commands, as its library uses them.

Commands run with bubblewrap in a folder per sandbox.
"""

import asyncio
import base64
import contextlib
import json
import os
import shutil
import signal
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from parlour.isolation.availability import find_bubblewrap
from parlour_sdk.values import dataclass

ENVD_VERSION = "0.6.4"
MAX_BYTES = 1024 * 1024 * 1024
SYSTEM_LINKS = ("bin", "lib", "lib64", "sbin")
END_OF_STREAM = 2
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SimulatedSandbox:
    """A sandbox of the service."""

    sandbox_id: str
    folder: Path
    body: Json
    processes: dict[int, asyncio.subprocess.Process]


class E2bSimulator:
    """Serves the control of sandboxes and the sandboxes themselves on one address."""

    def __init__(self, folder: Path, api_key: str) -> None:
        self._folder = folder
        self._api_key = api_key
        self._count = 0
        self.sandboxes: dict[str, SimulatedSandbox] = {}
        self.timeouts: list[int] = []
        """Seconds of life that were asked for, for new sandboxes and later."""
        self.address = ""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["E2bSimulator"]:
        """Listens while the context is open. All sandboxes end with it."""
        app = web.Application(client_max_size=MAX_BYTES)
        app.add_routes(
            [
                web.post("/v2/sandboxes", self._create),
                web.get("/v2/sandboxes", self._list),
                web.post("/sandboxes/{id}/timeout", self._set_timeout),
                web.delete("/sandboxes/{id}", self._delete),
                web.post("/files", self._write),
                web.get("/files", self._read),
                web.post("/process.Process/Start", self._start),
                web.post("/process.Process/SendInput", self._send_input),
                web.post("/process.Process/SendSignal", self._send_signal),
                web.get("/health", self._answer_health),
            ]
        )
        runner = web.AppRunner(app, shutdown_timeout=1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield self
        finally:
            for sandbox_id in list(self.sandboxes):
                await self.end(sandbox_id)
            await runner.cleanup()

    async def end(self, sandbox_id: str) -> None:
        """Ends a sandbox with everything in it, as the service does after its time."""
        sandbox = self.sandboxes.pop(sandbox_id)
        for process in sandbox.processes.values():
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        shutil.rmtree(sandbox.folder, ignore_errors=True)

    async def _create(self, request: web.Request) -> web.Response:
        self._check_key(request)
        body = await request.json()
        self._count += 1
        sandbox_id = f"sandbox{self._count}"
        folder = self._folder / sandbox_id
        _make_root(folder)
        self.sandboxes[sandbox_id] = SimulatedSandbox(sandbox_id, folder, body, {})
        self.timeouts.append(int(body["timeout"]))
        answer = {
            "sandboxID": sandbox_id,
            "templateID": body["templateID"],
            "clientID": "simulator",
            "envdVersion": ENVD_VERSION,
            "envdAccessToken": f"token of {sandbox_id}",
            "domain": None,
        }
        return web.json_response(answer, status=201)

    async def _list(self, request: web.Request) -> web.Response:
        self._check_key(request)
        name, _, value = request.query.get("metadata", "").partition("=")
        found = [each for each in self.sandboxes.values() if each.body["metadata"].get(name) == value]
        items = [
            {
                "sandboxID": each.sandbox_id,
                "templateID": each.body["templateID"],
                "clientID": "simulator",
                "startedAt": "2026-01-01T00:00:00Z",
                "endAt": "2026-01-01T00:10:00Z",
                "cpuCount": 2,
                "memoryMB": 512,
                "diskSizeMB": 1024,
                "state": "running",
                "envdVersion": ENVD_VERSION,
                "metadata": each.body["metadata"],
            }
            for each in found
        ]
        return web.json_response(items)

    async def _set_timeout(self, request: web.Request) -> web.Response:
        self._check_key(request)
        self.timeouts.append(int((await request.json())["timeout"]))
        return web.Response(status=204)

    async def _delete(self, request: web.Request) -> web.Response:
        self._check_key(request)
        sandbox_id = request.match_info["id"]
        if sandbox_id not in self.sandboxes:
            return web.json_response({"code": 404, "message": "not found"}, status=404)
        await self.end(sandbox_id)
        return web.Response(status=204)

    async def _write(self, request: web.Request) -> web.Response:
        target = self._path(request)
        target.parent.mkdir(parents=True, exist_ok=True)
        if request.content_type == "multipart/form-data":
            part = await (await request.multipart()).next()
            content = bytes(await part.read())  # type: ignore[union-attr]
        else:
            content = await request.read()
        target.write_bytes(content)
        return web.json_response([{"name": target.name, "type": "file", "path": request.query["path"]}])

    async def _read(self, request: web.Request) -> web.StreamResponse:
        target = self._path(request)
        if not target.is_file():
            return web.json_response({"code": 404, "message": "no such file"}, status=404)
        return web.Response(body=target.read_bytes())

    async def _start(self, request: web.Request) -> web.StreamResponse:
        sandbox = self._sandbox(request)
        frame = await request.content.readexactly(5)
        wanted = json.loads(await request.content.readexactly(struct.unpack("!BI", frame)[1]))
        process = await self._run(sandbox, wanted["process"], bool(wanted.get("stdin")))
        sandbox.processes[process.pid] = process
        response = web.StreamResponse(headers={"Content-Type": "application/connect+json"})
        await response.prepare(request)
        try:
            await _send(response, {"event": {"start": {"pid": process.pid}}})
            await asyncio.gather(
                _pass_on(process.stdout, "stdout", response), _pass_on(process.stderr, "stderr", response)
            )
            code = await process.wait()
            await _send(
                response, {"event": {"end": {"exitCode": code, "exited": True, "status": f"exit status {code}"}}}
            )
            await _send(response, {}, END_OF_STREAM)
        except (ConnectionError, asyncio.CancelledError):
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            raise
        return response

    async def _run(self, sandbox: SimulatedSandbox, wanted: Json, has_input: bool) -> asyncio.subprocess.Process:
        program = find_bubblewrap()
        assert program is not None, "commands of the simulator run with bubblewrap"
        internet = [] if sandbox.body.get("allow_internet_access", True) else ["--unshare-net"]
        arguments = [
            *("--bind", str(sandbox.folder), "/", "--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc"),
            *("--proc", "/proc", "--dev", "/dev", "--unshare-pid", "--unshare-ipc", "--die-with-parent", *internet),
            *("--chdir", wanted.get("cwd") or "/"),
        ]
        return await asyncio.create_subprocess_exec(
            str(program),
            *arguments,
            wanted["cmd"],
            *wanted["args"],
            stdin=asyncio.subprocess.PIPE if has_input else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={"PATH": os.environ["PATH"], **wanted.get("envs", {})},
        )

    async def _send_input(self, request: web.Request) -> web.Response:
        body = await request.json()
        process = self._sandbox(request).processes[int(body["process"]["pid"])]
        assert process.stdin is not None
        process.stdin.write(base64.b64decode(body["input"]["stdin"]))
        await process.stdin.drain()
        return web.json_response({})

    async def _send_signal(self, request: web.Request) -> web.Response:
        body = await request.json()
        process = self._sandbox(request).processes.get(int(body["process"]["pid"]))
        if process is None or process.returncode is not None:
            return web.json_response({"code": "not_found", "message": "no such process"}, status=404)
        process.send_signal(signal.SIGKILL if body["signal"] == "SIGNAL_SIGKILL" else signal.SIGTERM)
        return web.json_response({})

    async def _answer_health(self, request: web.Request) -> web.Response:
        self._sandbox(request)
        return web.Response(status=204)

    def _check_key(self, request: web.Request) -> None:
        if request.headers.get("X-API-Key") != self._api_key:
            body = json.dumps({"code": 401, "message": "the key is not known"})
            raise web.HTTPUnauthorized(text=body, content_type="application/json")

    def _sandbox(self, request: web.Request) -> SimulatedSandbox:
        sandbox = self.sandboxes.get(request.headers.get("E2b-Sandbox-Id", ""))
        if sandbox is None:
            body = json.dumps({"code": 502, "message": "the sandbox was not found"})
            raise web.HTTPBadGateway(text=body, content_type="application/json")
        if request.headers.get("X-Access-Token") != f"token of {sandbox.sandbox_id}":
            raise web.HTTPUnauthorized
        return sandbox

    def _path(self, request: web.Request) -> Path:
        return self._sandbox(request).folder / request.query["path"].lstrip("/")


def _make_root(folder: Path) -> None:
    for name in ("tmp", "run", "proc", "dev", "usr", "etc", "home"):
        (folder / name).mkdir(parents=True)
    for name in SYSTEM_LINKS:
        if Path("/", name).is_symlink():
            (folder / name).symlink_to(Path("/", name).readlink())


async def _pass_on(source: asyncio.StreamReader | None, name: str, response: web.StreamResponse) -> None:
    assert source is not None
    while chunk := await source.read(32 * 1024):
        await _send(response, {"event": {"data": {name: base64.b64encode(chunk).decode()}}})


async def _send(response: web.StreamResponse, message: Json, flags: int = 0) -> None:
    content = json.dumps(message).encode()
    await response.write(struct.pack("!BI", flags, len(content)) + content)
