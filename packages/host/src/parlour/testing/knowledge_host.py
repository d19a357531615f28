"""Runs a real Host with replies that a test writes, and with real knowledge bases.

python -m parlour.testing.knowledge_host DATA FOLDER
"""

import sys
from dataclasses import replace
from pathlib import Path

from parlour.app.core_ports import CorePorts
from parlour.app.host import HostExtensions
from parlour.app.settings_loader import load
from parlour.cli import serve

from .written_host import Folder, providers


def main(data: str, folder: str) -> None:
    scripted = providers(Folder(Path(folder)))

    def wrap_ports(ports: CorePorts) -> CorePorts:
        return replace(ports, providers=replace(scripted, knowledge=ports.providers.knowledge))

    serve.run(load(None, {"data": Path(data), "http.port": 0}), HostExtensions(wrap_ports))


if __name__ == "__main__":
    main(*sys.argv[1:])
