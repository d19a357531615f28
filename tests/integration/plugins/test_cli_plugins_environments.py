"""Tests plugins that require packages. A real package comes from the real registry once, and from
the cache afterwards.
"""

import shutil
from pathlib import Path

import psutil
import pytest

from tests.integration.conftest import MakeHost
from tests.support.commands import parlour_here, refusal
from tests.support.harness import ECHO_PLUGIN, Host, eventually, texts
from tests.support.plugins import write_plugin

SIX = "# one small package\nsix==1.17.0\n"
USES_SIX = "import six\n\n_completed = results.completed\nresults.completed = lambda _: _completed(six.__version__)\n"
OFFLINE = {"UV_OFFLINE": "1", "UV_INDEX_URL": "http://127.0.0.1:1/simple", "UV_NO_CACHE": "1"}
NO_SUCH = "parlour-test-no-such-package==1.0"
QUICK = {"PARLOUR__PLUGINS__FIRST_RESTART_SECONDS": "0.05", "PARLOUR__PLUGINS__GIVE_UP_AFTER": "2"}


def user_of_six(folder: Path, name: str, version: str = "0.1.0") -> Path:
    return write_plugin(folder, name, version=version, prelude=USES_SIX, requirements=SIX)


def environments(data: Path) -> list[Path]:
    return [path for path in (data / "environments").iterdir() if path.is_dir() and path.name != ".cache"]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Creates a data directory with a plugin whose environment was built, to be copied."""
    folder = tmp_path_factory.mktemp("prepared")
    done = parlour_here("plugin", "install", user_of_six(folder / "one", "first"), "--data", folder / "data")
    assert done.returncode == 0, done.stderr
    return folder / "data"


@pytest.fixture
def offline(make_host: MakeHost, prepared: Path) -> Host:
    """Starts a Host with that plugin that can't reach any registry or any earlier download."""
    host = make_host(**OFFLINE, **QUICK)
    shutil.copytree(prepared, host.data, symlinks=True)
    return host


def test_a_plugin_imports_what_it_requires(offline: Host) -> None:
    offline.start()

    assert texts(offline.ask(offline.agent("plugin:test/first/default"), "which six?")) == ["1.17.0"]
    [environment] = environments(offline.data)
    processes = psutil.Process(offline.process.pid).children(recursive=True)
    assert any(str(environment) in " ".join(each.cmdline()) for each in processes)


def test_a_second_plugin_and_a_new_version_share_the_environment_without_a_network(
    offline: Host, tmp_path: Path
) -> None:
    offline.start()
    for source in (user_of_six(tmp_path / "2", "second"), user_of_six(tmp_path / "3", "first", "0.2.0")):
        done = parlour_here("plugin", "install", source, "--data", offline.data, environment=OFFLINE)
        assert done.returncode == 0, done.stderr

    for name in ("first", "second"):
        assert texts(offline.ask(offline.agent(f"plugin:test/{name}/default"), "which six?")) == ["1.17.0"]
    assert len(environments(offline.data)) == 1


@pytest.mark.parametrize(
    ("requirement", "named"),
    [(NO_SUCH, f"its requirement '{NO_SUCH}' can't be installed"), ("six==99.0", "its requirement 'six==99.0'")],
)
def test_an_unavailable_requirement_is_named_and_changes_nothing(tmp_path: Path, requirement: str, named: str) -> None:
    data = tmp_path / "data"
    parlour_here("plugin", "install", write_plugin(tmp_path / "one", "wanting"), "--data", data)
    newer = write_plugin(tmp_path / "two", "wanting", version="0.2.0", requirements=f"{requirement}\n")

    said = refusal("plugin", "install", newer, "--data", data)

    assert named in said
    assert "nothing was changed" in said
    listed = parlour_here("plugin", "list", "--data", data).stdout
    assert listed.startswith(f"test/wanting 0.1.0  0.2.0 could not be installed: {named}")
    assert environments(data) == []


def test_a_plugin_whose_environment_can_not_be_built_at_the_start_fails_alone(offline: Host) -> None:
    [environment] = environments(offline.data)
    shutil.rmtree(environment)
    offline.install(ECHO_PLUGIN)

    offline.start()

    [facts] = [each for each in offline.items("/plugins") if each["id"] == "test/first"]
    assert facts["status"] == "failed"
    assert "its requirement" in facts["reason"]
    assert texts(offline.ask(offline.agent(), "works")) == ["works"]
    logged = offline.http().get("/plugins/test/first/logs").json()["items"]
    assert any("can't be installed" in each for each in logged)


@pytest.mark.long
def test_a_missing_environment_is_built_again_at_the_start(make_host: MakeHost, prepared: Path) -> None:
    host = make_host(**QUICK)
    shutil.copytree(prepared, host.data, symlinks=True)
    for environment in environments(host.data):
        shutil.rmtree(environment)

    host.start()

    assert texts(host.ask(host.agent("plugin:test/first/default"), "which six?")) == ["1.17.0"]


def test_without_uv_the_remedy_is_printed_and_other_plugins_are_not_affected(tmp_path: Path) -> None:
    data = tmp_path / "data"
    missing = {"PARLOUR__PLUGINS__UV": str(tmp_path / "no-uv")}

    said = refusal("plugin", "install", user_of_six(tmp_path / "one", "first"), "--data", data, environment=missing)

    assert "plugins.uv" in said
    assert parlour_here("plugin", "install", ECHO_PLUGIN, "--data", data, environment=missing).returncode == 0


@pytest.mark.long
def test_an_upgrade_without_its_environment_keeps_the_old_version_serving(offline: Host, tmp_path: Path) -> None:
    offline.start()
    agent = offline.agent("plugin:test/first/default")
    newer = write_plugin(tmp_path / "newer", "first", version="0.2.0", requirements="idna\n")

    said = refusal("plugin", "install", newer, "--data", offline.data, environment=OFFLINE)

    assert "idna" in said
    assert texts(offline.ask(agent, "which six?")) == ["1.17.0"]
    eventually(lambda: offline.plugin_status("test/first") == "ready", "it is ready")
