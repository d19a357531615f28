"""Tests `make run` without an available sandbox: the terminal shows the reason and the command to type."""

import os
import select
import signal
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
TIMEOUT_SECONDS = 120.0
HIDDEN = ("apt-get", "bwrap")
"""Programs that this machine must not have."""


def without(programs: tuple[str, ...], folder: Path) -> str:
    """Returns a PATH with all programs of this machine except these."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).iterdir() if Path(place).is_dir() else ():
            if program.name not in programs and not (folder / program.name).is_symlink():
                (folder / program.name).symlink_to(program)
    return str(folder)


def read_until(process: subprocess.Popen[bytes], words: str) -> str:
    assert process.stdout is not None
    until = time.monotonic() + TIMEOUT_SECONDS
    text = ""
    while words not in text:
        assert select.select([process.stdout], [], [], until - time.monotonic())[0], text
        read = os.read(process.stdout.fileno(), 65536).decode(errors="replace")
        assert read, text
        text += read
    return text


def test_make_run_shows_why_there_is_no_sandbox_and_the_command_that_installs_it(tmp_path: Path) -> None:
    old = tmp_path / "old bwrap"
    old.write_text("#!/bin/sh\necho 'bwrap: Unknown option --disable-userns' >&2\nexit 1\n")
    old.chmod(0o755)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "PARLOUR__"))},
        "PATH": without(HIDDEN, tmp_path / "bin"),
        "PARLOUR__PLUGINS__BUBBLEWRAP": str(old),
        "PARLOUR__PLUGINS__BUNDLED": "false",
    }
    subprocess.run(["make", "setup"], cwd=ROOT, check=True, capture_output=True)  # this is not done with that PATH
    options = [f"DATA={tmp_path / 'data'}", "PORT=0", f"SANDBOX={tmp_path / 'tools'}"]
    process = subprocess.Popen(
        ["make", "run", *options],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        before, _, after = read_until(process, "Parlour is at http").partition("Parlour is at http")
        if "install bubblewrap" not in after:
            after += read_until(process, "install bubblewrap")
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)

    assert "The sandbox around plugins is not to be had: there is no apt to fetch it with." in before
    assert "apt-get install bubblewrap" in before
    assert "Unknown option --disable-userns" in after
    assert "install bubblewrap" in after
