"""Runs a Host with the line platform attached that dies at a given point.

`python -m parlour.testing.faulty_host DATA PORT PLATFORM_PORT AGENT_ID [POINT]`
"""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from parlour.app.core_ports import CorePorts
from parlour.app.host import Host, HostExtensions
from parlour.app.settings_loader import load
from parlour.cli import serve
from parlour.core.model.ids import AgentId

from .faults import Fault
from .line_platform import SURFACE, LinePlatform


def main(data: str, port: str, platform_port: str, agent_id: str, point: str = "") -> None:
    platform = LinePlatform(int(platform_port))

    def wrap(ports: CorePorts) -> CorePorts:
        ports = replace(ports, surfaces={SURFACE: platform})
        return Fault(point).around(ports) if point else ports

    @asynccontextmanager
    async def attach(host: Host) -> AsyncIterator[None]:
        async with platform.connected(host.core.gateway, host.core.routes, AgentId(agent_id)):
            yield

    serve.run(load(None, {"data": Path(data), "http.port": int(port)}), HostExtensions(wrap, attach))


if __name__ == "__main__":
    main(*sys.argv[1:])
