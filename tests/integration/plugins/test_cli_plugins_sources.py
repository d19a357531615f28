"""Tests the sources of plugins, and that a bad source or a full disk changes nothing."""

import resource
import stat
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.integration.conftest import MakeHost
from tests.support.commands import PARLOUR, clean_environment, parlour_here, refusal
from tests.support.harness import Host, eventually, texts
from tests.support.plugins import write_plugin, write_zip

from .test_cli_plugins import everything_below, installed


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


def test_a_zip_is_installed_into_a_running_host(host: Host, tmp_path: Path) -> None:
    host.install(write_zip(write_plugin(tmp_path / "zipped", "zipped", answer="from a zip")))

    assert texts(host.ask(host.agent("plugin:test/zipped/default"), "whence?")) == ["from a zip"]


def test_a_revision_of_a_git_repository_is_installed_into_a_running_host(host: Host, tmp_path: Path) -> None:
    repository = write_plugin(tmp_path / "my repository", "versioned", answer="first")
    git(repository, "init", "--quiet", "--initial-branch=main")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "--message", "first")
    git(repository, "tag", "v1")
    runner = repository / "runner.py"
    runner.write_text(runner.read_text().replace("first", "second"))
    git(repository, "commit", "--quiet", "--all", "--message", "second")

    for source, answer in ((f"git+{repository}@v1", "first"), (f"git+file://{repository}", "second")):
        done = parlour_here("plugin", "install", source, "--data", host.data)
        assert done.returncode == 0, done.stderr
        assert texts(host.ask(host.agent("plugin:test/versioned/default"), "which?")) == [answer]

    assert "can't be fetched" in refusal("plugin", "install", f"git+{repository}@nope", "--data", host.data)
    [facts] = [each for each in host.items("/plugins") if each["id"] == "test/versioned"]
    assert facts["source"] == f"git+file://{repository}"


def link(packed: zipfile.ZipFile) -> None:
    entry = zipfile.ZipInfo("link")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    packed.writestr(entry, "/etc/passwd")


BAD_ZIPS = {
    "a path above": lambda packed: packed.writestr("../../escaped.txt", "x"),
    "an absolute path": lambda packed: packed.writestr("/tmp/escaped-from-a-zip.txt", "x"),
    "a link": link,
    "names that differ by case": lambda packed: packed.writestr("MANIFEST.yaml", "x"),
    "far too many zeros": lambda packed: packed.writestr("zeros", bytes(64 * 1024 * 1024)),
}


@pytest.mark.parametrize("fault", BAD_ZIPS)
def test_a_bad_zip_is_refused_in_one_sentence_and_changes_nothing(tmp_path: Path, fault: str) -> None:
    data = tmp_path / "data"
    folder = write_plugin(tmp_path / "plugin", "spoiled")
    parlour_here("plugin", "install", folder, "--data", data)
    before = everything_below(tmp_path)
    file = tmp_path / "bad.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in folder.iterdir():
            packed.write(path, path.name)
        BAD_ZIPS[fault](packed)

    refusal("plugin", "install", file, "--data", data)

    file.unlink()
    assert everything_below(tmp_path) == before
    assert not Path("/tmp/escaped-from-a-zip.txt").exists()
    assert installed(data) == ["test/spoiled 0.1.0"]


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_a_full_disk_is_reported_in_one_sentence_and_nothing_is_changed(tmp_path: Path, kind: str) -> None:
    """A limit on the size of files stands for a full disk, because it stops every user, also root."""
    data = tmp_path / "data"
    parlour_here("plugin", "install", write_plugin(tmp_path / "one", "big"), "--data", data)
    before = everything_below(data)
    source = write_plugin(tmp_path / "two", "big", version="0.2.0")
    (source / "weights.bin").write_bytes(bytes(range(256)) * 1000)
    source = write_zip(source) if kind == "zip" else source

    done = subprocess.run(
        [PARLOUR, "plugin", "install", source, "--data", data],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
        env=clean_environment({"PYTHONDONTWRITEBYTECODE": "1"}),
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 1
    assert done.stderr == (
        "parlour: the plugin could not be copied: File too large; nothing was changed; "
        "make room on the disk of the data directory and try again\n"
    )
    assert everything_below(data) == before


def test_the_size_of_a_plugin_is_a_setting(tmp_path: Path) -> None:
    folder = write_plugin(tmp_path / "plugin", "many")
    for number in range(5):
        (folder / f"{number}.txt").write_text("x")

    said = refusal(
        "plugin", "install", folder, "--data", tmp_path / "data", environment={"PARLOUR__PLUGINS__PACKAGE_FILES": "7"}
    )

    assert "more than 7 files" in said


@pytest.mark.long
def test_a_host_killed_during_an_upgrade_has_one_of_the_two_versions_afterwards(
    make_host: MakeHost, tmp_path: Path
) -> None:
    host = make_host(write_plugin(tmp_path / "one", "torn", answer="one")).start()
    slow = "import time\ntime.sleep(1)"
    newer = write_plugin(tmp_path / "two", "torn", version="0.2.0", answer="two", prelude=slow)
    installing = subprocess.Popen(
        [PARLOUR, "plugin", "install", newer, "--data", host.data],
        env=clean_environment(None),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    eventually(lambda: "test/torn 0.2.0" in installed(host.data), "the new version is recorded", 30)

    host.kill()

    _, errors = installing.communicate(timeout=30)
    assert "Traceback" not in errors
    host.start()
    assert texts(host.ask(host.agent("plugin:test/torn/default"), "which?")) == ["two"]
