"""Tests that every backend of the Box must pass. An implementation joins by a subclass that provides `make_backend`.

`BackendContract` is what all backends do. `IsolationContract` adds what those do that run on the Box's own kernel. The
tests need pytest and pytest-asyncio in auto mode.
"""

import asyncio
import base64
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from parlour.box.backend import Backend, Fields, Sandbox, SandboxFolders
from parlour.box.errors import BoxError, SandboxGone
from parlour.core.box.messages import SessionSpec

MakeBackend = Callable[[], Backend]

WRITE_EVERYTHING = """
import os
opened = []
for folder, folders, files in os.walk("/proc/sys"):
    for name in files:
        try:
            os.close(os.open(os.path.join(folder, name), os.O_WRONLY))
            opened.append(name)
        except OSError:
            pass
for path in ("/proc/sysrq-trigger", "/proc/acpi/alarm", "/sys/kernel/uevent_helper", "/usr/x", "/etc/x", "/run/x"):
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
        opened.append(path)
    except OSError:
        pass
print(opened)
"""

OUTSIDE = ("/etc/passwd", "../../etc/passwd", "a/../../x", "/workspace/../etc/passwd", "\0", "")

FORK_BOMB = """
import os, time
started = 0
while started < 500:
    try:
        if not os.fork():
            time.sleep(60)
            os._exit(0)
    except OSError:
        break
    started += 1
print(started)
"""


def spec(**fields: Any) -> SessionSpec:
    return SessionSpec(session_id="test", **{"cpus": 1, "memory_mb": 128, "processes": 48, **fields})


def encoded(content: str) -> str:
    return base64.b64encode(content.encode()).decode()


@contextlib.asynccontextmanager
async def started(
    backend: Backend,
    folder: Path,
    on_event: Callable[[Fields], None] = lambda event: None,
    skills: dict[str, Path] | None = None,
    memory_mb: int = 0,
    **fields: Any,
) -> AsyncIterator[Sandbox]:
    """Starts a sandbox, which is closed at the end."""
    folders = SandboxFolders(folder, skills or {}, memory_mb)
    sandbox = await backend.start(spec(**fields), folders, on_event)
    try:
        yield sandbox
    finally:
        await sandbox.close()


async def run(sandbox: Sandbox, command: str, timeout: float = 60, **fields: Any) -> tuple[str, Fields]:
    """Runs a command, and returns what it printed and the result."""
    result = await sandbox.request("exec", {"command": command, "timeout": timeout, **fields})
    return base64.b64decode(result["stdout"]["data"]).decode(errors="replace"), result


async def python(sandbox: Sandbox, code: str) -> tuple[str, Fields]:
    """Runs a program, which is written to a file first."""
    await sandbox.request("write", {"path": "code.py", "data": encoded(code)})
    return await run(sandbox, "python3 code.py")


class BackendContract:
    """What every backend does."""

    @pytest.fixture
    async def backend(self, make_backend: MakeBackend) -> AsyncIterator[Backend]:
        backend = make_backend()
        await backend.probe()
        yield backend
        await backend.close()

    async def test_probe_names_what_holds(self, make_backend: MakeBackend) -> None:
        backend = make_backend()
        info = await backend.probe()
        await backend.close()
        assert info.name
        assert info.limits in ("cgroup2", "cgroup1", "rlimit", "remote")

    async def test_all_requests_see_one_file_system(self, backend: Backend, tmp_path: Path) -> None:
        (tmp_path / "there").write_text("before\n")
        async with started(backend, tmp_path) as sandbox:
            await sandbox.request("write", {"path": "a/b.txt", "data": encoded("one two\n")})
            output, _ = await run(sandbox, "cat there a/b.txt; echo three >> a/b.txt; pwd")
            assert output == "before\none two\n/workspace\n"
            await sandbox.request("edit", {"path": "a/b.txt", "old": "two", "new": "2", "limit": 1000})
            content = await sandbox.request("read", {"path": "/workspace/a/b.txt"})
            assert base64.b64decode(content["data"]) == b"one 2\nthree\n"
            found = await sandbox.request("glob", {"pattern": "**/*.txt"})
            assert found["items"] == ["/workspace/a/b.txt"]
            lines = await sandbox.request("grep", {"pattern": "thr.e"})
            assert lines["items"] == ["/workspace/a/b.txt:2: three"]
            listed = await sandbox.request("list", {"path": "/workspace"})
            assert [entry["name"] for entry in listed["items"]] == ["a", "there"]
            await sandbox.request("remove", {"path": "a/b.txt"})
            with pytest.raises(BoxError) as missing:
                await sandbox.request("read", {"path": "a/b.txt"})
            assert missing.value.code == "path_refused"

    async def test_files_of_a_session_are_there_in_the_next_one(self, backend: Backend, tmp_path: Path) -> None:
        async with started(backend, tmp_path) as sandbox:
            await run(sandbox, "mkdir -p kept && echo kept > kept/file && touch gone && rm gone")
        assert (tmp_path / "kept" / "file").read_text() == "kept\n"
        assert sorted(os.listdir(tmp_path)) == ["kept"]
        async with started(backend, tmp_path) as sandbox:
            output, _ = await run(sandbox, "cat kept/file")
        assert output == "kept\n"

    async def test_result_has_code_outputs_and_variables(self, backend: Backend, tmp_path: Path) -> None:
        async with started(backend, tmp_path) as sandbox:
            output, result = await run(sandbox, "echo $NAME; echo problem >&2; exit 3", env={"NAME": "value"})
        assert (output, result["status"], result["code"]) == ("value\n", "completed", 3)
        assert base64.b64decode(result["stderr"]["data"]) == b"problem\n"

    async def test_time_out_kills_the_command(self, backend: Backend, tmp_path: Path) -> None:
        async with started(backend, tmp_path) as sandbox:
            _, result = await run(sandbox, "sleep 100", timeout=0.5)
        assert result["status"] == "timed_out"

    async def test_long_output_keeps_beginning_and_end(self, backend: Backend, tmp_path: Path) -> None:
        async with started(backend, tmp_path) as sandbox:
            _, result = await run(sandbox, "echo first; head -c 2000000 /dev/zero | tr '\\0' x; echo last")
        output = result["stdout"]
        kept = base64.b64decode(output["data"])
        assert output["bytes"] == 2_000_011
        assert kept.startswith(b"first\n")
        assert kept.endswith(b"xlast\n")
        assert len(kept) < 600_000

    async def test_paths_outside_the_workspace_are_refused(self, backend: Backend, tmp_path: Path) -> None:
        async with started(backend, tmp_path) as sandbox:
            for path in OUTSIDE:
                with pytest.raises(BoxError) as refused:
                    await sandbox.request("read", {"path": path})
                assert refused.value.code == "path_refused", path

    async def test_managed_process_has_input_output_and_an_end(self, backend: Backend, tmp_path: Path) -> None:
        events: asyncio.Queue[Fields] = asyncio.Queue()
        async with started(backend, tmp_path, events.put_nowait) as sandbox:
            argv = ["sh", "-c", "echo $KEY >&2; read line; echo got $line; exit 4"]
            await sandbox.request(
                "start", {"process_id": "one", "argv": argv, "env": {"KEY": "v"}, "workdir": "/workspace"}
            )
            await sandbox.request("feed", {"process_id": "one", "data": encoded("input\n")})
            collected, code = {"stdout": b"", "stderr": b""}, None
            async with asyncio.timeout(60):
                while code is None:
                    event = await events.get()
                    assert event["process"] == "one"
                    code = event.get("exited")
                    if code is None:
                        collected[event["stream"]] += base64.b64decode(event["data"])
        assert (collected, code) == ({"stdout": b"got input\n", "stderr": b"v\n"}, 4)

    async def test_managed_process_is_stopped_and_missing_ones_are_named(
        self, backend: Backend, tmp_path: Path
    ) -> None:
        events: asyncio.Queue[Fields] = asyncio.Queue()
        async with started(backend, tmp_path, events.put_nowait) as sandbox:
            request = {"process_id": "one", "argv": ["sleep", "1000"], "env": {}, "workdir": "/workspace"}
            await sandbox.request("start", request)
            await sandbox.request("stop", {"process_id": "one", "force": True})
            async with asyncio.timeout(60):
                assert (await events.get())["exited"] != 0
            with pytest.raises(BoxError) as missing:
                await sandbox.request("feed", {"process_id": "absent", "data": ""})
        assert missing.value.code == "process_not_found"

    async def test_ended_sandbox_says_that_it_has_ended(self, backend: Backend, tmp_path: Path) -> None:
        async with started(backend, tmp_path) as sandbox:
            await sandbox.close()
            assert sandbox.closed.is_set()
            with pytest.raises(SandboxGone):
                await run(sandbox, "true")


class IsolationContract(BackendContract):
    """What backends do whose sandboxes share the kernel of the Box."""

    async def test_nothing_of_the_machine_can_be_opened_for_writing(self, backend: Backend, tmp_path: Path) -> None:
        async with started(backend, tmp_path) as sandbox:
            output, _ = await python(sandbox, WRITE_EVERYTHING)
        assert output == "[]\n"

    async def test_commands_have_no_capability_no_new_privileges_and_a_filter(
        self, backend: Backend, tmp_path: Path
    ) -> None:
        async with started(backend, tmp_path) as sandbox:
            output, _ = await run(sandbox, "cat /proc/self/status")
            users, _ = await run(sandbox, "unshare -Ur true || echo refused")
        fields = dict(line.split(":\t", 1) for line in output.splitlines() if ":\t" in line)
        assert {fields[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
        assert (fields["NoNewPrivs"], fields["Seccomp"]) == ("1", "2")
        assert set(fields["Uid"].split()) - {"0"} == set(fields["Uid"].split())
        assert users.strip() == "refused"

    async def test_without_network_only_the_own_loopback_is_there(self, backend: Backend, tmp_path: Path) -> None:
        code = "import socket; s = socket.socket(); s.settimeout(5); print(s.connect_ex(('192.0.2.1', 80)))"
        async with started(backend, tmp_path) as sandbox:
            interfaces, _ = await run(sandbox, "cut -d: -f1 /proc/net/dev | tail -n +3")
            connected, _ = await python(sandbox, code)
        assert interfaces.split() == ["lo"]
        assert connected.strip() != "0"

    async def test_other_processes_and_files_of_the_machine_are_not_seen(
        self, backend: Backend, tmp_path: Path
    ) -> None:
        async with started(backend, tmp_path) as sandbox:
            numbers, _ = await run(sandbox, "ls -d /proc/[0-9]* | wc -l")
            root, _ = await run(sandbox, "ls -A / /root /home 2>/dev/null; env")
        assert int(numbers) < 10
        assert str(tmp_path) not in root
        assert "PARLOUR" not in root

    async def test_memory_of_a_session_is_limited(self, backend: Backend, tmp_path: Path) -> None:
        async with started(backend, tmp_path) as sandbox:
            _, result = await python(sandbox, "x = bytearray(400 * 1024 * 1024)")
            reason = sandbox.death_reason()
            alive, _ = await run(sandbox, "echo alive")
        assert result["code"] != 0
        assert reason == "memory" or result["code"] == 1
        assert alive == "alive\n"

    async def test_fork_bomb_stays_within_the_number_of_processes(self, backend: Backend, tmp_path: Path) -> None:
        async with started(backend, tmp_path) as sandbox:
            output, _ = await python(sandbox, FORK_BOMB)
        assert 10 < int(output) <= 48

    async def test_orphaned_processes_are_reaped(self, backend: Backend, tmp_path: Path) -> None:
        async with started(backend, tmp_path) as sandbox:
            await run(sandbox, "for n in 1 2 3 4 5; do (setsid true &) ; done; sleep 0.2")
            states, _ = await run(sandbox, "cat /proc/[0-9]*/stat | cut -d' ' -f3 | grep -c Z")
        assert states == "0\n"

    async def test_everything_ends_with_the_sandbox(self, backend: Backend, tmp_path: Path) -> None:
        marker = f"sleep 1{os.getpid()}"
        async with started(backend, tmp_path) as sandbox:
            seen = f'until [ "$(tr "\\0" " " < /proc/$!/cmdline)" = "{marker} " ]; do :; done'
            await run(sandbox, f"setsid nohup {marker} > /dev/null 2>&1 & {seen}")
            assert processes_with(marker)
        assert not processes_with(marker)

    async def test_links_are_followed_inside_the_workspace_and_refused_out_of_it(
        self, backend: Backend, tmp_path: Path
    ) -> None:
        async with started(backend, tmp_path) as sandbox:
            await run(
                sandbox, "echo in > real; ln -s real inside; ln -s /etc/passwd outside; ln -s / root; mkfifo pipe"
            )
            inside = await sandbox.request("read", {"path": "inside"})
            assert base64.b64decode(inside["data"]) == b"in\n"
            for path in ("outside", "root/etc/passwd", "pipe"):
                with pytest.raises(BoxError) as refused:
                    await sandbox.request("read", {"path": path})
                assert refused.value.code == "path_refused", path
            with pytest.raises(BoxError):
                await sandbox.request("write", {"path": "outside", "data": ""})

    async def test_read_only_workspace_can_be_read_and_not_written(self, backend: Backend, tmp_path: Path) -> None:
        (tmp_path / "there").write_text("there")
        async with started(backend, tmp_path, read_only=True) as sandbox:
            _, result = await run(sandbox, "touch /workspace/new")
            found = await sandbox.request("read", {"path": "there"})
            with pytest.raises(BoxError):
                await sandbox.request("write", {"path": "new", "data": ""})
        assert result["code"] != 0
        assert base64.b64decode(found["data"]) == b"there"
        assert os.listdir(tmp_path) == ["there"]

    async def test_skills_are_shown_and_can_not_be_changed(self, backend: Backend, tmp_path: Path) -> None:
        skill, workspace = tmp_path / "skill", tmp_path / "workspace"
        skill.mkdir()
        workspace.mkdir()
        (skill / "SKILL.md").write_text("how to")
        async with started(backend, workspace, skills={"greet": skill}) as sandbox:
            output, _ = await run(
                sandbox, "cat .skills/greet/SKILL.md; touch .skills/x .skills/greet/x && echo written"
            )
        assert output == "how to"
        assert os.listdir(skill) == ["SKILL.md"]

    async def test_workspace_in_memory_is_limited_and_ends_with_its_sandbox(
        self, backend: Backend, tmp_path: Path
    ) -> None:
        async with started(backend, tmp_path, memory_mb=8) as sandbox:
            _, result = await run(sandbox, "dd if=/dev/zero of=big bs=1M count=16")
            size, _ = await run(sandbox, "stat -c %s big")
        assert (result["code"], result["full"]) == (1, True)
        assert int(size) <= 8 * 1024 * 1024
        assert os.listdir(tmp_path) == []

    async def test_slow_pattern_delays_no_command(self, backend: Backend, tmp_path: Path) -> None:
        async with started(backend, tmp_path) as sandbox:
            await run(sandbox, f"echo {'a' * 40}b > evil.txt")
            search = asyncio.create_task(sandbox.request("grep", {"pattern": "(a+)+c"}))
            beside, _ = await run(sandbox, "echo beside")
            assert (beside, search.done()) == ("beside\n", False)
            search.cancel()


def processes_with(text: str) -> list[int]:
    """Returns the processes of the machine whose command line has a text."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            line = Path("/proc", name, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            if line == text:
                found.append(int(name))
    return found
