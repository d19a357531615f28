"""Runs a real Host that dies at a given point.

python -m parlour.testing.killed_host DATA POINT
"""

import sys
from pathlib import Path

from parlour.app.host import HostExtensions
from parlour.app.settings_loader import load
from parlour.cli import serve

from .faults import Fault


def main(data: str, point: str) -> None:
    serve.run(load(None, {"data": Path(data), "http.port": 0}), HostExtensions(Fault(point).around))


if __name__ == "__main__":
    main(*sys.argv[1:])
