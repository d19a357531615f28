"""Tests that the wheel is complete: it contains the page and the agent, and a Host from it serves both."""

import subprocess
import zipfile
from pathlib import Path

import httpx
import pytest

from tests.support.harness import ROOT, Host, eventually

UV = ROOT / ".tools" / "bin" / "uv"
PAGE = ROOT / "packages" / "host" / "src" / "parlour" / "page"
BROWSER = {"accept": "text/html"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder into which the wheel was unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [UV, "build", "--quiet", "--wheel", "--package", "parlour", "--out-dir", folder]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert built.returncode == 0, built.stderr
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder / "installed")
    return folder / "installed"


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_the_wheel_holds_the_whole_page(installed: Path) -> None:
    assert (PAGE / "index.html").exists(), "build the page first: make web"
    assert files(installed / "parlour" / "page") == files(PAGE)


@pytest.mark.long
def test_a_host_from_the_wheel_serves_the_page_and_has_an_agent(installed: Path, tmp_path: Path) -> None:
    host = Host(tmp_path, PYTHONPATH=installed, PARLOUR__PLUGINS__BUNDLED="true").start()
    served = httpx.get(host.address, headers=BROWSER)
    agents = eventually(lambda: host.items("/agents"), "the wheel's agent is there")
    host.close()
    built = (installed / "parlour" / "page" / "index.html").read_text()
    assert served.text == built.replace('"./', '"/'), "addresses are below the root where no prefix is set"
    assert [each["name"] for each in agents] == ["Assistant"]
