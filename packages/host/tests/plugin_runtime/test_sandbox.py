"""The launcher that is chosen, and its notice, on machines with and without a sandbox."""

import shutil
import sys
from pathlib import Path

import pytest

from parlour.isolation.availability import PROJECT_TOOL
from parlour.plugin_runtime.process.launcher import PlainLauncher
from parlour.plugin_runtime.process.sandbox import LaunchRefused, SandboxState, choose_launcher
from parlour.plugin_runtime.process.sandboxed_launcher import BubblewrapLauncher

from .sandboxes import make_start


def program(file: Path, script: str) -> Path:
    """Writes a bubblewrap that fails in this way."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


FORBIDDEN = "echo 'bwrap: No permissions to create new namespace' >&2; exit 1"
OLD = "echo 'bwrap: Unknown option --disable-userns' >&2; exit 1"


@pytest.mark.parametrize("wish", ["auto", "required"])
async def test_a_working_sandbox_is_used_without_a_notice(wish: str) -> None:
    launcher, state = await choose_launcher(wish, None, [])

    assert isinstance(launcher, BubblewrapLauncher)
    assert state == SandboxState("bubblewrap")
    assert state.notice == ""


@pytest.mark.parametrize(
    ("script", "reason", "remedy"),
    [
        (FORBIDDEN, "No permissions to create new namespace", "docs/operate/security.md"),
        (OLD, "Unknown option --disable-userns", "0.8 or newer"),
        ("kill -9 $$", "exit status -9", "docs/operate/security.md"),
    ],
)
async def test_a_failing_sandbox_is_not_used_and_the_notice_has_reason_and_remedy(
    tmp_path: Path, script: str, reason: str, remedy: str
) -> None:
    launcher, state = await choose_launcher("auto", program(tmp_path / "bwrap", script), [])

    assert isinstance(launcher, PlainLauncher)
    assert state.kind == "none"
    assert reason in state.reason
    assert remedy in state.remedy
    assert state.missing
    assert state.notice.startswith(f"Plugins run without a sandbox: {state.reason}; {state.remedy}.")


async def test_a_file_that_is_not_a_program_is_named(tmp_path: Path) -> None:
    _, state = await choose_launcher("auto", tmp_path / "absent", [])

    assert f"plugins.bubblewrap names '{tmp_path / 'absent'}'" in state.reason


async def test_a_missing_bubblewrap_is_reported_with_the_command_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))

    launcher, state = await choose_launcher("auto", None, [])

    assert isinstance(launcher, PlainLauncher)
    assert "is not installed" in state.reason
    assert "apt-get install bubblewrap" in state.remedy
    assert (state.missing, state.command) == (True, "")


@pytest.mark.parametrize(
    ("manager", "command"), [("apt-get", "apt-get install bubblewrap"), ("apk", "apk add bubblewrap")]
)
async def test_the_install_command_is_that_of_the_machines_package_manager(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, manager: str, command: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))
    program(tmp_path / manager, "exit 1")

    _, state = await choose_launcher("auto", None, [])

    assert state.command.removeprefix("sudo ") == command
    assert state.notice.endswith(f" On this machine: {state.command}")


@pytest.mark.parametrize("place", ["on the path/bwrap", str(PROJECT_TOOL)])
async def test_bubblewrap_is_found_on_the_path_and_in_the_projects_own_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "on the path"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))
    program(tmp_path / place, "echo this one >&2; exit 1")

    _, state = await choose_launcher("auto", None, [])

    assert "this one" in state.reason


async def test_no_plugin_starts_without_a_required_sandbox_and_the_reason_has_the_remedy(
    tmp_path: Path,
) -> None:
    launcher, state = await choose_launcher("required", program(tmp_path / "bwrap", FORBIDDEN), [])

    assert state.notice.startswith("No plugin is started: bubblewrap can't make one here")
    with pytest.raises(LaunchRefused) as refused:
        await launcher.launch(make_start(tmp_path))
    assert state.reason in str(refused.value)
    assert state.remedy in str(refused.value)
    assert "plugins.sandbox: off" in str(refused.value)


async def test_a_disabled_sandbox_is_not_tried_and_shown_as_disabled(tmp_path: Path) -> None:
    tried = tmp_path / "tried"

    launcher, state = await choose_launcher("off", program(tmp_path / "bwrap", f"touch '{tried}'"), [])

    assert isinstance(launcher, PlainLauncher)
    assert not tried.exists()
    assert not state.missing
    assert state.notice == "Plugins run without a sandbox: the setting plugins.sandbox is off; auto brings it back."


async def test_the_sandbox_is_used_without_a_filter_if_the_kernel_has_no_seccomp(tmp_path: Path) -> None:
    real = shutil.which("bwrap") or str(Path(sys.prefix).parent / PROJECT_TOOL)
    refusing = "bwrap: prctl(PR_SET_SECCOMP): Invalid argument"
    script = (
        f"""for word; do [ "$word" = --seccomp ] && {{ echo '{refusing}' >&2; exit 1; }}; done; exec '{real}' "$@" """
    )

    launcher, state = await choose_launcher("required", program(tmp_path / "bwrap", script), [])

    assert isinstance(launcher, BubblewrapLauncher)
    assert state.kind == "bubblewrap"
    assert "PR_SET_SECCOMP" in state.unfiltered
