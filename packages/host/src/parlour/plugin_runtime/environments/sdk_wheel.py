"""Packs the Host's own SDK as a wheel, so that plugins' environments have the same one, however it was installed."""

import base64
import hashlib
import zipfile
from functools import cache
from importlib import metadata
from pathlib import Path

import parlour_sdk

DISTRIBUTION = "parlour-sdk"
_WHEEL = "Wheel-Version: 1.0\nGenerator: parlour\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@cache
def digest() -> str:
    """Returns a digest of its code and metadata.

    A changed SDK in a development tree counts as another one, even if its version is the same.
    """
    hasher = hashlib.sha256()
    for name, content in _files():
        hasher.update(b"%d:%s:%d:" % (len(name), name.encode(), len(content)))
        hasher.update(content)
    return hasher.hexdigest()


def write(folder: Path) -> Path:
    """Writes the wheel, with the same bytes every time."""
    wheel = folder / f"parlour_sdk-{metadata.version(DISTRIBUTION)}-py3-none-any.whl"
    information = f"parlour_sdk-{metadata.version(DISTRIBUTION)}.dist-info"
    files = [*_files(), (f"{information}/WHEEL", _WHEEL.encode())]
    record = "".join(f"{name},sha256={_record_hash(content)},{len(content)}\n" for name, content in files)
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in [*files, (f"{information}/RECORD", f"{record}{information}/RECORD,,\n".encode())]:
            packed.writestr(zipfile.ZipInfo(name), content)
    return wheel


def _files() -> list[tuple[str, bytes]]:
    package = Path(parlour_sdk.__file__).parent
    paths = sorted(path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    code = [(f"parlour_sdk/{path.relative_to(package).as_posix()}", path.read_bytes()) for path in paths]
    metadata_text = metadata.distribution(DISTRIBUTION).read_text("METADATA") or ""
    return [*code, (f"parlour_sdk-{metadata.version(DISTRIBUTION)}.dist-info/METADATA", metadata_text.encode())]


def _record_hash(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
