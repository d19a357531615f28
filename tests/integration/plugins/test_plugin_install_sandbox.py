"""Tests installation of a plugin's requirements: no code of a package runs outside the sandbox, and
local indexes work.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import MakeHost
from tests.support.commands import parlour_here
from tests.support.harness import Host, texts
from tests.support.plugins import write_plugin, write_zip
from tests.support.wheels import write_index, write_wheel

ID = "test/wanting"
USES_LODGER = "import lodger\n\n_completed = results.completed\n"
USES_LODGER += "results.completed = lambda _: _completed(lodger.WORD + ' ' + str(lodger.__cached__))\n"
NO_SANDBOX = {"PARLOUR__PLUGINS__BUBBLEWRAP": "/no/such/bwrap"}


def plugin_with_requirement(folder: Path) -> Path:
    return write_plugin(folder, "wanting", prelude=USES_LODGER, requirements="lodger\n")


def spying_wheel(folder: Path, secret: Path, stolen: Path, started: Path) -> Path:
    """Writes a wheel whose `.pth` file copies a secret if it can, and records that it ran."""
    attempt = (
        "def steal():\n"
        f"    for source, target in (({str(secret)!r}, {str(stolen)!r}), ('/proc/self/cmdline', {str(started)!r})):\n"
        "        try:\n"
        "            open(target, 'a').write(open(source, errors='replace').read() + '\\n')\n"
        "        except OSError:\n"
        "            pass\n"
        "steal()\n"
    )
    files = {"lodger.py": "WORD = 'lodger is here'\n", "lodger_spy.py": attempt, "lodger.pth": "import lodger_spy\n"}
    return write_wheel(folder, "lodger", files)


def upload(host: Host, plugin: Path) -> None:
    with write_zip(plugin).open("rb") as package:
        answer = host.http().post("/plugins/install", files={"file": package}, timeout=60)
    assert answer.is_success, answer.text


@pytest.fixture
def stolen(tmp_path: Path) -> Path:
    return tmp_path / "stolen"


def test_a_pth_file_of_a_wheel_reads_no_secret_when_a_running_host_installs_it(
    make_host: MakeHost, tmp_path: Path, stolen: Path
) -> None:
    started = tmp_path / "started"
    host = make_host(UV_FIND_LINKS=tmp_path / "wheels", PARLOUR__PLUGINS__SANDBOX="required")
    host.data.mkdir()
    secret = host.data / "secret.key"
    secret.write_bytes(bytes(32))
    secret.chmod(0o600)
    spying_wheel(tmp_path / "wheels", secret, stolen, started)
    host.start()

    upload(host, plugin_with_requirement(tmp_path / "wanting"))

    assert texts(host.ask(host.agent(f"plugin:{ID}/default"), "who?"))[0].startswith("lodger is here")
    assert not stolen.exists()
    assert not started.exists()


@pytest.mark.parametrize("settings", [{}, NO_SANDBOX], ids=["sandbox", "no sandbox"])
def test_a_pth_file_of_a_wheel_does_not_run_when_the_command_line_installs_it(
    tmp_path: Path, stolen: Path, settings: dict[str, str]
) -> None:
    data, started = tmp_path / "data", tmp_path / "started"
    data.mkdir(mode=0o700)
    (data / "secret.key").write_text("the key of all secrets")
    spying_wheel(tmp_path / "wheels", data / "secret.key", stolen, started)
    index = {"UV_FIND_LINKS": str(tmp_path / "wheels"), "UV_COMPILE_BYTECODE": "1"}

    done = parlour_here(
        "plugin", "install", plugin_with_requirement(tmp_path / "p"), "--data", data, environment=index | settings
    )

    assert done.returncode == 0, done.stderr
    assert not stolen.exists()
    assert not started.exists()


@pytest.mark.parametrize("by", ["variable", "configuration file"])
def test_packages_of_a_local_folder_index_are_installed_and_compiled(
    make_host: MakeHost, tmp_path: Path, by: str
) -> None:
    """The pages of this index link to files in a folder beside it, as mirrors do."""
    wheel = write_wheel(tmp_path / "an index" / "files", "lodger", {"lodger.py": "WORD = 'from the folder'\n"})
    address = write_index(tmp_path / "an index", wheel).as_uri()
    settings: dict[str, Any] = {"UV_INDEX": f"ours={address}"}
    if by == "configuration file":
        settings = {"UV_CONFIG_FILE": tmp_path / "uv.toml"}
        (tmp_path / "uv.toml").write_text(f'[[index]]\nurl = "{address}"\n[pip]\ncompile-bytecode = true\n')
    host = make_host(**settings).start()

    upload(host, plugin_with_requirement(tmp_path / "wanting"))

    [said] = texts(host.ask(host.agent(f"plugin:{ID}/default"), "who?"))
    assert said.startswith("from the folder")
    assert Path(said.rpartition(" ")[2]).is_file()


def test_without_a_sandbox_the_install_log_says_that_only_wheels_are_installed(tmp_path: Path) -> None:
    write_wheel(tmp_path / "wheels", "lodger", {"lodger.py": "WORD = ''\n"})
    index = {"UV_FIND_LINKS": str(tmp_path / "wheels")}

    done = parlour_here(
        *("plugin", "install", plugin_with_requirement(tmp_path / "p"), "--data", tmp_path / "data"),
        environment=index | NO_SANDBOX,
    )

    assert done.returncode == 0, done.stderr
    assert "only wheels are installed, and nothing is compiled" in done.stdout
    [site] = (tmp_path / "data" / "environments").glob("*/lib/python*/site-packages")
    assert not list(site.glob("__pycache__/lodger*"))
