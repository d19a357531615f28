"""Tests from inside the sandbox what a process can see, read and write."""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

import pytest

from parlour.plugin_runtime.process.launcher import DATA_VARIABLE
from parlour.testing.proxy_server import running_proxy
from parlour_sdk.protocol.manifest import PluginLimits

from .sandboxes import make_start, run_sandboxed

READ = "report([attempt(lambda path: open(path).read(), path) for path in sys.argv[1:]])"
WRITE = "report([attempt(lambda path: open(path, 'a').write('x'), path) for path in sys.argv[1:]])"
OPEN_TO_WRITE = "report([attempt(lambda path: open(path, 'a').close(), path) for path in sys.argv[1:]])"
ACCOUNT = {"HOME", "LOGNAME", "PATH", "PWD", "TMPDIR", "USER"}
LANGUAGE = {"LANG", "LC_ALL", "LC_CTYPE", "TZ"}
REAL_PYTHON = Path(os.path.realpath(sys.executable))


async def test_code_is_readable_and_data_is_writable(tmp_path: Path) -> None:
    start = make_start(tmp_path)
    (start.folder / "main.py").write_text("code")

    assert await run_sandboxed(start, READ, start.folder / "main.py") == ["code"]
    assert await run_sandboxed(start, WRITE, start.folder / "main.py", start.data / "new") == ["OSError", 1]

    assert (start.folder / "main.py").read_text() == "code"
    assert (start.data / "new").read_text() == "x"


async def test_other_folders_are_not_visible(tmp_path: Path) -> None:
    start = make_start(tmp_path)
    (tmp_path / "neighbour").write_text("secret")
    hidden = [tmp_path / "neighbour", Path.home() / ".profile", "/etc/shadow", "/var/log", "/sys/kernel", "/run"]

    assert await run_sandboxed(start, READ, *hidden) == ["FileNotFoundError"] * len(hidden)
    assert await run_sandboxed(start, "report(sorted(os.listdir(sys.argv[1])))", tmp_path) == ["its code", "its data"]


@pytest.mark.parametrize("place", ["/new", "/etc/new", "/dev/new", "/usr/new", "/proc/sys/kernel/panic", "/etc/passwd"])
async def test_system_folders_are_not_writable(tmp_path: Path, place: str) -> None:
    assert await run_sandboxed(make_start(tmp_path), OPEN_TO_WRITE, place) in (["OSError"], ["PermissionError"])


async def test_temporary_files_are_private_and_bounded_by_the_memory_limit(tmp_path: Path) -> None:
    start = make_start(tmp_path, limits=PluginLimits(memory_mb=32))
    fill = """
with tempfile.TemporaryFile() as file:
    written = [attempt(file.write, bytes(1024 * 1024)) for _ in range(40)]
report([tempfile.gettempdir(), attempt(os.stat, sys.argv[1]), written.count(1024 * 1024)])
"""
    with tempfile.NamedTemporaryFile(dir="/tmp") as somebodys:
        place, seen, count = await run_sandboxed(start, fill, somebodys.name)

    assert (place, seen) == ("/tmp", "FileNotFoundError")
    assert 25 < count <= 32


async def test_the_sandbox_has_an_account_a_home_and_no_variables_of_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARLOUR__SECRET", "secret")
    monkeypatch.setenv("LANG", "C.UTF-8")
    start = make_start(tmp_path)

    account, environment = await run_sandboxed(start, "report([pwd.getpwuid(os.getuid()).pw_name, dict(os.environ)])")

    assert account == "plugin"
    assert environment["HOME"] == str(start.data)
    assert environment["LANG"] == "C.UTF-8"
    assert set(environment) <= ACCOUNT | LANGUAGE | {"PYTHONUNBUFFERED", DATA_VARIABLE}


async def test_the_process_has_no_capability_and_can_not_create_namespaces(tmp_path: Path) -> None:
    script = """
with open("/proc/self/status") as file:
    capabilities = [int(line.split()[1], 16) for line in file if line.startswith("Cap")]
new_user_namespace = 0x10000000
report([capabilities, ctypes.CDLL(None).unshare(new_user_namespace)])
"""
    assert await run_sandboxed(make_start(tmp_path), script) == [[0] * 5, -1]


async def test_only_processes_of_the_sandbox_are_visible(tmp_path: Path) -> None:
    script = "report([[int(name) for name in os.listdir('/proc') if name.isdigit()], os.getpid(), os.getppid()])"

    seen, own, parent = await run_sandboxed(make_start(tmp_path), script)

    assert (parent, sorted(seen)) == (1, [1, own])


async def test_a_data_directory_in_a_readable_folder_shows_only_the_plugins_own_data(tmp_path: Path) -> None:
    """An operator may place it below `/usr/local`, or in the environment's folder."""
    environment = link_environment(tmp_path / "environment")
    data = tmp_path / "environment" / "share" / "data directory"
    data.mkdir(parents=True)
    (data / "parlour.db").write_text("secret")
    start = make_start(data, python=environment)

    assert await run_sandboxed(start, READ, data / "parlour.db") == ["secret"]
    assert await run_sandboxed(start, READ, data / "parlour.db", hidden=[data]) == ["FileNotFoundError"]
    assert await run_sandboxed(start, WRITE, start.data / "new", data / "new", hidden=[data]) == [1, "OSError"]


async def test_an_interpreter_is_found_through_links_in_other_folders(tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "python").symlink_to(REAL_PYTHON)
    environment = link_environment(tmp_path / "environment", tmp_path / "links" / "python")

    assert await run_sandboxed(make_start(tmp_path, python=environment), "report(sys.executable)") == str(environment)


async def test_a_link_in_its_environment_opens_no_other_folder(tmp_path: Path) -> None:
    environment = link_environment(tmp_path / "environment")
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "key").write_text("secret")
    (tmp_path / "environment" / "share").symlink_to(tmp_path / "private")
    start = make_start(tmp_path, python=environment)

    assert await run_sandboxed(start, READ, tmp_path / "environment" / "share" / "key") == ["FileNotFoundError"]


async def test_a_plugin_without_the_network_permission_has_no_network_and_resolves_local_names(tmp_path: Path) -> None:
    script = """
interfaces = [name for _, name in socket.if_nameindex()]
report([interfaces, socket.gethostbyname("localhost"), socket.gethostbyname(socket.gethostname())])
"""
    assert await run_sandboxed(make_start(tmp_path), script) == [["lo"], "127.0.0.1", "127.0.0.1"]


async def test_a_plugin_with_the_network_permission_has_the_network_of_the_machine(tmp_path: Path) -> None:
    start = make_start(tmp_path, network=("api.example.org",))

    assert await run_sandboxed(start, "report(os.readlink('/proc/self/ns/net'))") == os.readlink("/proc/self/ns/net")


async def test_only_a_plugin_with_the_network_permission_gets_the_proxies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://ann:geheim@proxy.example:8080")
    monkeypatch.delenv("https_proxy", raising=False)
    script = "report([os.environ.get('HTTPS_PROXY'), open('/proc/1/cmdline').read().count('ge' + 'heim')])"
    granted = make_start(tmp_path, network=("api.example.org",))

    assert await run_sandboxed(make_start(tmp_path), script) == [None, 0]
    assert await run_sandboxed(granted, script) == ["http://ann:geheim@proxy.example:8080", 0]


@pytest.mark.parametrize("scheme", ["http", "socks5h"])
async def test_a_plugin_with_the_network_permission_reaches_a_service_through_the_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\n"hello"')
        writer.close()

    script = """
import asyncio
from parlour_sdk.agents.http_agent import HttpAgentConfig, ServiceClient, ServiceRequest

async def ask():
    async with ServiceClient(HttpAgentConfig(base_url="http://service.test"), {}) as client:
        return await client.call(ServiceRequest("/", method="GET"))

report(asyncio.run(ask()))
"""
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with running_proxy({"service.test:80": f"127.0.0.1:{port}"}, "ann:geheim") as proxy:
            monkeypatch.setenv("http_proxy", f"{scheme}://ann:geheim@127.0.0.1:{proxy.port}")
            start = make_start(tmp_path, network=("service.test",))
            assert await run_sandboxed(start, script) == "hello"
            assert proxy.next_target().endswith(" service.test:80")


def link_environment(folder: Path, python: Path = REAL_PYTHON) -> Path:
    """Makes the parts of a `venv` environment that an interpreter needs."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(python)
    (folder / "pyvenv.cfg").write_text(f"home = {REAL_PYTHON.parent}\n")
    return folder / "bin" / "python"
