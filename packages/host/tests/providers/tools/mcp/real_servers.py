"""Real MCP servers, started like their users start them, and the Host's connections to them without a Host."""

import asyncio
import os
import random
import re
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psutil

from parlour.core.box.messages import BoxConfig
from parlour.core.config.mcp_servers import McpServerRepository
from parlour.core.model.mcp_server import McpServer
from parlour.core.secrets import SecretBox
from parlour.core.system import SystemClock
from parlour.core.tools.mcp import McpServerStatus
from parlour.providers.box.connection import BoxConnection
from parlour.providers.box.server_processes import BoxServers
from parlour.providers.tools.mcp.connection import ReconnectPolicy
from parlour.providers.tools.mcp.servers import McpServers
from parlour.testing.memory_journal import MemoryJournal

ROOT = Path(__file__).parents[6]
INSTALLED = ROOT / ".tools" / "mcp-servers" / "node_modules" / "@modelcontextprotocol"
EVERYTHING = str(INSTALLED / "server-everything" / "dist" / "index.js")
FILESYSTEM = str(INSTALLED / "server-filesystem" / "dist" / "index.js")
HERE = Path(__file__).parent
NO_BOX = BoxConfig(root="/nowhere")
QUICK = ReconnectPolicy(start=60, first_pause=0.05, longest_pause=0.2, refresh=60, patience=60)


class Unsealed:
    """Seals nothing: a sealed secret is the secret itself."""

    def seal(self, secret: str) -> str:
        return secret

    def open(self, sealed: str) -> str:
        return sealed


UNSEALED = Unsealed()


def time_server(name: str = "clock") -> McpServer:
    return McpServer(name, name, "stdio", command=sys.executable, arguments=("-m", "mcp_server_time"))


def everything(name: str = "everything") -> McpServer:
    assert INSTALLED.exists(), "the servers that the tests talk to are not installed: make mcp-servers"
    return McpServer(name, name, "stdio", command="node", arguments=(EVERYTHING, "stdio"))


def filesystem(folder: Path, name: str = "files") -> McpServer:
    return McpServer(name, name, "stdio", command="node", arguments=(FILESYSTEM, str(folder)))


def hostile(manner: str) -> McpServer:
    return McpServer(
        manner, manner, "stdio", command=sys.executable, arguments=(str(HERE / "hostile_server.py"), manner)
    )


@asynccontextmanager
async def connecting(
    *servers: McpServer, allowed: bool = True, secrets: SecretBox = UNSEALED
) -> AsyncIterator[McpServers]:
    """Connects to the servers; their ids are their names."""
    clock = SystemClock()
    book = McpServerRepository(MemoryJournal(), clock)
    for server in servers:
        await book.add(server)
    made = McpServers(
        book, secrets, clock, allowed, QUICK, BoxServers(BoxConnection(NO_BOX, "test", enabled=False)).open
    )
    await made.start()
    try:
        yield made
    finally:
        await made.close()


async def settled(servers: McpServers, name: str, seconds: float = 60) -> McpServerStatus:
    """Returns the status after the first attempt to connect."""
    async with asyncio.timeout(seconds):
        while (status := servers.status(name)).state == "connecting":  # noqa: ASYNC110 - there is no notification
            await asyncio.sleep(0.02)
    return status


def processes(command: str) -> list[psutil.Process]:
    """Returns the child processes whose command contains the name."""
    below = psutil.Process().children(recursive=True)
    return [each for each in below if command in " ".join(each.cmdline())]


class RemoteServer:
    """A server that listens on a port of its own; it can be killed and started again there."""

    def __init__(self, *command: str, announced: str) -> None:
        self._command = command
        self._announced = announced
        self.port = 0
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> "RemoteServer":
        for _ in range(5):  # another process may use the port first
            port = self.port or _free_port()
            environment = {**os.environ, "PORT": str(port)}
            self._process = subprocess.Popen(
                self._command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
            if self._listens():
                self.port = port
                return self
        raise AssertionError("the server did not find a port")

    def _listens(self) -> bool:
        assert self._process is not None
        assert self._process.stderr is not None
        until = time.monotonic() + 60
        while time.monotonic() < until and (line := self._process.stderr.readline()):
            if re.search(self._announced, line):
                return True
        self.kill()
        return False

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(30)
            assert self._process.stderr is not None
            self._process.stderr.close()
            self._process = None


def _free_port() -> int:
    """Returns a port below the ephemeral range, so that it is still free after a restart."""
    while True:
        port = random.randint(20_000, 32_000)
        with socket.socket() as found, suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port
