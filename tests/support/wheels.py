"""Writes wheels by hand, and folders that serve them as a local index."""

import base64
import hashlib
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar


def write_wheel(folder: Path, name: str, files: Mapping[str, str], version: str = "1.0") -> Path:
    """Writes a wheel with these files beside its metadata."""
    folder.mkdir(parents=True, exist_ok=True)
    information = f"{name}-{version}.dist-info"
    content = dict(files) | {
        f"{information}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{information}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},sha256={_digest(text)},{len(text.encode())}\n" for path, text in content.items())
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        for path, text in {**content, f"{information}/RECORD": f"{record}{information}/RECORD,,\n"}.items():
            packed.writestr(path, text)
    return wheel


def write_index(folder: Path, wheel: Path) -> Path:
    """Writes a simple index of one wheel, whose page links to it by a relative path. Returns the index's folder."""
    project = folder / "simple" / wheel.name.partition("-")[0].replace("_", "-")
    project.mkdir(parents=True)
    link = Path("..", "..", wheel.relative_to(folder)).as_posix()
    (project / "index.html").write_text(f'<!DOCTYPE html><html><body><a href="{link}">{wheel.name}</a></body></html>')
    return folder / "simple"


class IndexRequests(SimpleHTTPRequestHandler):
    """Serves a package index from its folder, and remembers which wheels were fetched."""

    fetched: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        if self.path.endswith(".whl"):
            self.fetched.append(self.path.rpartition("/")[2])
        super().do_GET()

    def log_message(self, format: str, *arguments: object) -> None:
        """Stays silent."""


@contextmanager
def package_index(folder: Path, requests: type[IndexRequests] = IndexRequests) -> Iterator[str]:
    """Serves the index of a folder, and yields its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(requests, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/simple"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
