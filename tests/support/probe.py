"""Prints the properties of the process as which it was started."""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from parlour.isolation.reaper import HOST_MARK


def _words() -> list[str]:
    """Returns the command line without the argument that pads it."""
    words = Path("/proc/self/cmdline").read_text().removesuffix("\0").split("\0")
    return [word for word in words if word.strip(".")]


def _handlers() -> dict[str, str]:
    return {each.name: str(signal.getsignal(each)) for each in signal.Signals}


alike = {
    "words": sys.argv,
    "command line": _words(),
    "folder": os.getcwd(),
    "environment": {name: value for name, value in os.environ.items() if name != "LC_CTYPE"},
    "time zone": time.tzname,
    "open files": len(os.listdir("/proc/self/fd")),
    "leads its session": os.getsid(0) == os.getpid(),
    "threads": len(os.listdir("/proc/self/task")),
    "handlers": _handlers(),
    "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())),
}
sys.stdout.write(json.dumps({"alike": alike, "own": [random.random(), HOST_MARK, os.getpid()]}))
sys.stderr.write("and complains\n")
sys.exit(3)
