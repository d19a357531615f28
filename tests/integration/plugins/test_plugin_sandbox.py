"""Tests a plugin's access to its Host, other plugins and the machine: a probing plugin tries it and reports."""

import json
import platform
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import MakeHost
from tests.support.harness import ECHO, ECHO_PLUGIN, ROOT, Host, texts

PROBING_PLUGIN = ROOT / "tests" / "fixtures" / "plugins" / "probing-agent"
PROBER = "plugin:test/probing-agent/default"
PLUGIN_ID = "test/probing-agent"
SECRET = "a token that only the Host knows"
SAME_NUMBERS = {"io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428}
SAME_NUMBERS |= {"move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442}
NUMBERS = {
    "x86_64": SAME_NUMBERS
    | {"bpf": 321, "keyctl": 250, "add_key": 248, "request_key": 249, "perf_event_open": 298, "userfaultfd": 323}
    | {"mount": 165, "umount2": 166, "pivot_root": 155, "kexec_load": 246, "kexec_file_load": 320},
    "aarch64": SAME_NUMBERS
    | {"bpf": 280, "keyctl": 219, "add_key": 217, "request_key": 218, "perf_event_open": 241, "userfaultfd": 282}
    | {"mount": 40, "umount2": 39, "pivot_root": 41, "kexec_load": 104, "kexec_file_load": 294},
}
"""System call numbers, as the kernel's own headers have them."""
NOT_THERE = {"refused": "FileNotFoundError"}


class Prober:
    def __init__(self, host: Host) -> None:
        self.host = host
        self._agent = host.agent(PROBER)

    def tries(self, *words: object) -> Any:
        [answer] = texts(self.host.ask(self._agent, json.dumps(words, default=str)))
        return json.loads(answer)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Creates the home of the user that runs the Host."""
    home = tmp_path_factory.mktemp("home")
    (home / ".netrc").write_text(SECRET)
    return home


@pytest.fixture(scope="module")
def prober(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Iterator[Prober]:
    """Starts a Host in a path with a space, with another plugin beside the prober, which is granted nothing."""
    folder = tmp_path_factory.mktemp("probed") / "a folder"
    folder.mkdir()
    host = Host(folder, HOME=home, SOME_TOKEN=SECRET)
    host.install(ECHO_PLUGIN)
    host.install(PROBING_PLUGIN, "--grant", "none")
    host.start()
    yield Prober(host)
    host.close()


@pytest.fixture
def listener() -> Iterator[int]:
    """Listens on a port of this machine, greets each client, and returns the port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            try:
                while True:
                    connection, _ = server.accept()
                    connection.sendall(b"welcome")
                    connection.close()
            except OSError:
                return

        greeting = threading.Thread(target=greet)
        greeting.start()
        yield int(server.getsockname()[1])
        server.shutdown(socket.SHUT_RDWR)
    greeting.join(5)


def row(host: Host, plugin_id: str = PLUGIN_ID) -> dict[str, Any]:
    [found] = [each for each in host.items("/plugins") if each["id"] == plugin_id]
    return found


def its_code(host: Host, plugin_id: str = PLUGIN_ID) -> Path:
    [manifest] = (host.data / "plugins" / plugin_id).rglob("manifest.yaml")
    return manifest.parent


def notices(host: Host) -> list[str]:
    return [line for line in host.log().splitlines() if "without a sandbox" in line]


def test_a_plugin_in_a_sandbox_is_shown_as_such_without_warnings(prober: Prober) -> None:
    shown = row(prober.host)

    assert (shown["sandbox"], shown["sandbox_reason"], shown["sandbox_remedy"]) == ("bubblewrap", None, None)
    assert not [line for line in prober.host.printed() if "sandbox" in line]
    assert notices(prober.host) == []


def test_a_plugin_sees_only_its_own_folders_of_the_hosts_data(prober: Prober) -> None:
    data = prober.host.data
    assert (data / "parlour.db").exists()

    assert prober.tries("read", data / "parlour.db") == NOT_THERE
    assert prober.tries("names", data) == ["plugin-data", "plugins"]
    assert prober.tries("names", data / "plugins") == ["test"]
    assert prober.tries("names", its_code(prober.host).parent) == [its_code(prober.host).name]
    assert prober.tries("names", data / "plugin-data" / "test") == ["probing-agent"]


def test_code_and_data_of_another_plugin_are_not_visible(prober: Prober) -> None:
    data = prober.host.data / "plugin-data" / "parlour" / "echo-agent"
    assert data.is_dir()

    assert prober.tries("read", its_code(prober.host, "parlour/echo-agent") / "manifest.yaml") == NOT_THERE
    assert prober.tries("names", data) == NOT_THERE


def test_neither_passwords_nor_the_home_of_the_hosts_user_are_visible(prober: Prober, home: Path) -> None:
    assert prober.tries("read", "/etc/shadow") == NOT_THERE
    assert prober.tries("read", home / ".netrc") == NOT_THERE
    assert prober.tries("home") == str(prober.host.data / "plugin-data" / PLUGIN_ID)


def test_a_plugin_can_not_change_its_code(prober: Prober) -> None:
    manifest = its_code(prober.host) / "manifest.yaml"
    before = manifest.read_text()

    assert prober.tries("write", manifest, "mine") == {"refused": "OSError"}
    assert prober.tries("write", manifest.with_name("new.py"), "mine") == {"refused": "OSError"}

    assert prober.tries("read", manifest) == before == manifest.read_text()


def test_files_in_the_data_folder_survive_a_restart(prober: Prober) -> None:
    note = prober.host.shared_file("note", PLUGIN_ID)

    assert prober.tries("write", note, "remember") == "written"
    prober.host.restart()

    assert prober.tries("read", note) == "remember"
    assert note.read_text() == "remember"


def test_without_a_network_grant_a_plugin_reaches_nothing_on_the_machine(prober: Prober, listener: int) -> None:
    refused = {"refused": "ConnectionRefusedError"}

    assert prober.tries("connect", prober.host.address.rpartition(":")[2]) == refused
    assert prober.tries("connect", listener) == refused


def test_a_network_grant_gives_the_network_until_it_is_revoked(prober: Prober, listener: int) -> None:
    change = {"granted": ["network:api.example.org"]}
    assert prober.host.http().put(f"/plugins/{PLUGIN_ID}", json=change).status_code == 200
    assert prober.tries("connect", listener) == "welcome"

    assert prober.host.http().put(f"/plugins/{PLUGIN_ID}", json={"granted": []}).status_code == 200
    assert prober.tries("connect", listener) == {"refused": "ConnectionRefusedError"}


def test_a_plugin_sees_only_itself_and_the_first_process_of_its_sandbox(prober: Prober) -> None:
    answer = prober.tries("processes")

    assert answer["parent"] == 1
    assert set(answer["seen"]) == {"1", str(answer["own"])}


def test_a_plugin_can_not_signal_processes_outside(prober: Prober) -> None:
    host = prober.host.process

    assert prober.tries("kill", host.pid) == {"refused": "ProcessLookupError"}
    assert prober.tries("kill", 1) == "sent"  # this has no effect either, because the kernel protects the first process

    assert prober.tries("read", "/proc/1/comm") == "bwrap\n"
    assert host.is_running()


def test_the_hosts_environment_can_not_be_read(prober: Prober) -> None:
    environments = prober.tries("environments")

    assert any("HOME=" in each for each in environments)
    assert not any(SECRET in each for each in environments)


def test_bubblewrap_starts_with_an_empty_environment(prober: Prober) -> None:
    first = prober.tries("read", "/proc/1/environ")

    assert [each.partition("=")[0] for each in first.split("\0") if each] == ["PARLOUR_PLUGIN_PROCESS"]


def test_system_calls_that_no_plugin_needs_are_denied(prober: Prober) -> None:
    numbers = NUMBERS[platform.machine()]
    missing = {name for name in numbers if name.startswith("io_uring")}

    for last in (0, 1):  # some of them end with one error, some with the other
        answers = prober.tries("system_calls", numbers, 0, 0, 0, 0, last)
        assert answers == {name: "ENOSYS" if name in missing else "EPERM" for name in numbers}
    assert "Seccomp:\t2" in prober.tries("read", "/proc/self/status")
    if platform.machine() == "x86_64":
        x32 = {"getpid": 0x40000000 + 39}
        assert prober.tries("system_calls", x32, 0) == {"getpid": "ENOSYS"}


def test_without_bubblewrap_plugins_run_and_warnings_are_logged_shown_and_printed(make_host: MakeHost) -> None:
    host = make_host(PROBING_PLUGIN, PARLOUR__PLUGINS__BUBBLEWRAP="/no/such/bwrap").start()

    assert Prober(host).tries("read", host.data / "parlour.db").startswith("SQLite format 3")
    shown = row(host)
    assert (shown["status"], shown["sandbox"]) == ("ready", "none")
    assert "/no/such/bwrap" in shown["sandbox_reason"]
    assert shown["sandbox_remedy"]
    [line] = notices(host)
    assert "/no/such/bwrap" in line
    printed = host.printed()[1]
    assert printed.startswith("Plugins run without a sandbox: ")


@pytest.mark.long
def test_a_disabled_sandbox_is_shown_as_disabled(make_host: MakeHost) -> None:
    host = make_host(ECHO_PLUGIN, PARLOUR__PLUGINS__SANDBOX="off").start()

    assert texts(host.ask(host.agent(ECHO), "still here")) == ["still here"]
    shown = row(host, "parlour/echo-agent")
    assert (shown["sandbox"], shown["sandbox_reason"]) == ("none", "the setting plugins.sandbox is off")
    assert len(notices(host)) == 1


def test_a_required_but_missing_sandbox_prevents_plugins_and_the_host_is_ready_at_once(
    make_host: MakeHost,
) -> None:
    missing = {"PARLOUR__PLUGINS__SANDBOX": "required", "PARLOUR__PLUGINS__BUBBLEWRAP": "/no/such/bwrap"}
    host = make_host(ECHO_PLUGIN, **missing, PARLOUR__PLUGINS__FIRST_RESTART_SECONDS=60).start()

    shown = row(host, "parlour/echo-agent")
    assert shown["status"] == "failed"
    assert "/no/such/bwrap" in shown["reason"]
    assert "plugins.sandbox: off" in shown["reason"]
    assert host.printed()[1].startswith("No plugin is started: ")
