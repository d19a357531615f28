"""Starts a plain model service as a process: the one whose script `PARLOUR_FAKE_OPENAI` names, or our own, which takes
the same options and gives the same answers.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from .harness import NO_TLS, eventually

OWN = ["-m", "parlour.testing.plain_model"]


class PlainModel:
    def __init__(self, *options: str) -> None:
        """Starts the service at a free port."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        script = os.environ.get("PARLOUR_FAKE_OPENAI")
        command = [sys.executable, *([script] if script else OWN), "--port", str(port), *options]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.address = f"http://127.0.0.1:{port}"
        eventually(self._answers, "the service answers", 60)

    def requests(self) -> int:
        """Returns how many completions were requested."""
        return int(httpx.get(f"{self.address}/stats", verify=NO_TLS).json()["requests"])

    def end(self) -> None:
        self._process.kill()
        self._process.wait(30)

    def _answers(self) -> bool:
        assert self._process.poll() is None, "the service ended at once"
        try:
            return httpx.get(f"{self.address}/v1/models", verify=NO_TLS).status_code == 200
        except httpx.TransportError:
            return False


@contextmanager
def plain_model(*options: str) -> Iterator[PlainModel]:
    service = PlainModel(*options)
    try:
        yield service
    finally:
        service.end()
