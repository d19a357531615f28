"""Tests that a signed release is verified with the command of the deployment page, and a changed one is refused."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.harness import ROOT
from tools.release import sign

PAGE = ROOT / "docs" / "operate" / "deployment.md"

pytestmark = pytest.mark.long  # needs ssh-keygen


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """Returns a folder with a signed release of one file, and the public key."""
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key], check=True)
    (tmp_path / "allowed_signers").write_text(f"parlour-release {key.with_suffix('.pub').read_text()}")
    dist = tmp_path / "dist"
    dist.mkdir()
    (dist / "parlour.whl").write_bytes(b"a wheel")
    sums = subprocess.run(["sha256sum", "parlour.whl"], cwd=dist, check=True, capture_output=True, text=True).stdout
    (dist / "SHA256SUMS").write_text(sums)
    sign(dist / "SHA256SUMS", str(key))
    return tmp_path


def verify(folder: Path) -> int:
    """Runs the commands of the page that begin with the verification of the signature."""
    [block] = re.findall(r"```sh\n(ssh-keygen -Y verify.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=folder, capture_output=True).returncode


def test_an_unchanged_release_is_verified(release: Path) -> None:
    assert verify(release) == 0


@pytest.mark.parametrize("file", ["parlour.whl", "SHA256SUMS", "SHA256SUMS.sig"])
def test_a_changed_file_is_refused(release: Path, file: str) -> None:
    changed = release / "dist" / file
    changed.write_bytes(changed.read_bytes().replace(b"a", b"b", 1) + b"x")

    assert verify(release) != 0
