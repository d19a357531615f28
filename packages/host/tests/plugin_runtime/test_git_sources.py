"""Plugins from git repositories: addresses, revisions, limits, passwords and failures."""

import errno
import os
import subprocess
from pathlib import Path

import pytest

from parlour.plugin_runtime.packages import git
from parlour.plugin_runtime.packages.archive import SizeLimits
from parlour_sdk.plugin import PluginInvalid

from .plugin_files import load, names, write_plugin

FILES = {"manifest.yaml", "runner.yaml", "runner.py"}


def run_git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    done = subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Version 1.0 is tagged v1; version 2.0 follows it; the plugin is also in `packages/hello`."""
    folder = tmp_path / "my repository"
    folder.mkdir()
    run_git(folder, "init", "--quiet", "--initial-branch=main")
    for version in ("1.0", "2.0"):
        write_plugin(folder, version=version)
        write_plugin(folder / "packages" / "hello", name="inner", version=version)
        run_git(folder, "add", ".")
        run_git(folder, "commit", "--quiet", "--message", version)
        run_git(folder, "tag", f"v{version[0]}")
    return folder


async def test_a_git_path_gives_its_newest_version(repository: Path, staging: Path) -> None:
    package = await load(f"git+{repository}", staging)

    assert package.version == "2.0"
    assert names(package.plugin.folder) >= FILES
    assert ".git" not in names(package.plugin.folder)


@pytest.mark.parametrize("form", ["git+{path}@v1", "git+file://{path}@v1"])
async def test_a_git_address_can_name_a_revision(repository: Path, staging: Path, form: str) -> None:
    package = await load(form.format(path=repository), staging)

    assert package.version == "1.0"
    assert package.source == f"git+file://{repository}@v1"


async def test_a_git_address_can_name_a_commit_and_a_folder(repository: Path, staging: Path) -> None:
    commit = run_git(repository, "rev-parse", "v1")

    package = await load(f"git+{repository}@{commit}#subdirectory=packages/hello", staging)

    assert (package.plugin_id, package.version) == ("acme/inner", "1.0")


@pytest.mark.parametrize(("limits", "named"), [(SizeLimits(files=4), "4 files"), (SizeLimits(bytes=500), "500 bytes")])
async def test_a_repository_over_the_limits_is_refused_before_its_files_are_written(
    repository: Path, staging: Path, limits: SizeLimits, named: str
) -> None:
    with pytest.raises(PluginInvalid, match=named):
        await load(f"git+{repository}", staging, sizes=limits)

    assert os.listdir(staging / "fetched") == [".git"]
    inner = staging / "inner"
    inner.mkdir()
    package = await load(f"git+{repository}#subdirectory=packages/hello", inner, sizes=limits)
    assert package.plugin_id == "acme/inner"
    assert set(os.listdir(inner / "fetched")) == {".git", "packages"}, "the rest of the repository counts for nothing"


async def test_hooks_and_submodules_of_a_repository_are_ignored(
    repository: Path, staging: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touched = tmp_path / "touched"
    template = tmp_path / "template" / "hooks"
    template.mkdir(parents=True)
    hook = template / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch '{touched}'\n")
    hook.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(f"[init]\n templateDir = {template.parent}\n[submodule]\n recurse = true\n")
    monkeypatch.setenv("HOME", str(home))
    allowed = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add"]
    run_git(repository, *allowed, str(repository), "inner")
    run_git(repository, "commit", "--quiet", "--message", "submodule")
    touched.unlink()  # created by git without the protection

    package = await load(f"git+{repository}", staging)

    assert package.version == "2.0"
    assert not touched.exists()
    assert not list((staging / "fetched" / "inner").iterdir())


@pytest.mark.parametrize(
    ("tail", "named"),
    [("@nope", "nope"), ("#subdirectory=absent", "absent"), ("#subdirectory=../..", r"\.\./\.\."), ("-gone", "gone")],
)
async def test_a_missing_part_of_a_repository_is_named(repository: Path, staging: Path, tail: str, named: str) -> None:
    with pytest.raises(PluginInvalid, match=named) as refused:
        await load(f"git+{repository}{tail}", staging)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "source",
    [
        "git+http://example.org/x",
        "git+ext::sh -c date",
        "git+https://example.org/x?y",
        "git+/x#egg=y",
        "git+/x@",
        "git+",
        "git+https://[",
        "https://[::1/x",
    ],
)
async def test_an_invalid_address_is_refused_with_the_accepted_forms(source: str, staging: Path) -> None:
    with pytest.raises(PluginInvalid, match="write git"):
        await load(source, staging)


def test_a_password_in_an_address_is_not_shown() -> None:
    address = git.parse("git+https://user:secret@example.org/team/plugin.git@v1#subdirectory=a")

    assert address.repository == "https://user:secret@example.org/team/plugin.git"
    assert address.display_url == "git+https://example.org/team/plugin.git@v1#subdirectory=a"


async def test_a_password_is_not_shown_when_the_repository_is_unreachable(staging: Path) -> None:
    with pytest.raises(PluginInvalid, match="can't be fetched") as refused:
        await load("git+https://user:secret@127.0.0.1:1/team/plugin.git", staging)
    assert "secret" not in str(refused.value)


async def test_a_repository_that_does_not_answer_times_out(
    repository: Path, staging: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "git").write_text("#!/bin/sh\nexec sleep 60\n")
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")

    with pytest.raises(PluginInvalid, match=r"within 0\.2 s"):
        await load(f"git+{repository}", staging, fetch_seconds=0.2)


async def test_a_full_disk_during_a_fetch_is_reported_as_such(
    repository: Path, staging: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "git").write_text("#!/bin/sh\necho 'fatal: cannot mkdir x: No space left on device'; exit 128\n")
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")

    with pytest.raises(OSError, match="No space left on device") as full:
        await load(f"git+{repository}", staging)
    assert full.value.errno == errno.ENOSPC


async def test_a_missing_git_is_reported(repository: Path, staging: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(staging))

    with pytest.raises(PluginInvalid, match="git is not installed"):
        await load(f"git+{repository}", staging)
