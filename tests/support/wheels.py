"""Writes wheels by hand, and folders that serve them as a local index."""

import base64
import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path


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


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
