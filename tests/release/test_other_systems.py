"""Tests that the packages can be imported on a system without POSIX, where the Host says on which systems it runs."""

import subprocess
import sys
from pathlib import Path

import pytest

WITHOUT_POSIX = """
import os, signal, socket, sys

import importlib.metadata
import mcp.client.stdio, numpy, uvicorn  # they choose by the name of the system

ABSENT_MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"}
ABSENT_NAMES = {
    os: "O_DIRECTORY O_NOFOLLOW O_NONBLOCK O_CLOEXEC O_PATH fork geteuid getuid killpg pread pwrite fchmod pidfd_open "
    "posix_fallocate setpriority statvfs uname PRIO_PROCESS getpgid setsid mkfifo openpty",
    signal: "SIGKILL SIGHUP SIGUSR1 SIGUSR2 SIGSTOP SIGCONT SIGCHLD pthread_sigmask",
    socket: "AF_UNIX AF_NETLINK SO_REUSEPORT send_fds recv_fds",
}


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ABSENT_MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


for name in ABSENT_MODULES:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Absent())
for owner, names in ABSENT_NAMES.items():
    for name in names.split():
        if hasattr(owner, name):
            delattr(owner, name)
"""
IMPORT_ALL = """
import importlib, pkgutil
import parlour, parlour_sdk

IN_A_SANDBOX = ("parlour.box.agent", "parlour.providers.knowledge.parsing.worker")
EXTRAS = {"chromadb", "pymilvus", "qdrant_client", "pyseekdb"}
count = 0
for package in (parlour, parlour_sdk):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        name = module.name
        if name.startswith(("parlour.testing", *IN_A_SANDBOX)) or name.endswith("__main__"):
            continue
        try:
            importlib.import_module(name)
            count += 1
        except ModuleNotFoundError as error:
            assert error.name in EXTRAS, f"{name}: {error}"
        except Exception as error:
            raise AssertionError(f"{name} can't be imported: {error!r}") from error
print(count)
"""
SERVE = """
sys.argv = ["parlour", "serve"]
from parlour.cli.main import main
main()
"""


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT_POSIX + script]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.long
def test_all_modules_are_imported_without_posix(tmp_path: Path) -> None:
    finished = run(IMPORT_ALL, tmp_path)

    assert finished.returncode == 0, finished.stderr
    assert int(finished.stdout) > 900


def test_the_host_says_on_which_systems_it_runs(tmp_path: Path) -> None:
    finished = run(SERVE, tmp_path)

    assert finished.returncode == 1
    assert finished.stderr.startswith("parlour: the Host runs on Linux and macOS. On Windows, start it in WSL 2")
    assert list(tmp_path.iterdir()) == []
