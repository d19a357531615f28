"""A process that sends messages to the echo agent one after the other over one connection, and reports how long each
took.

It does nothing else, so it measures the Host's time and not the time of the process that disturbs the Host. A line of
its input says how many messages to send; an empty one means until the next line comes. It answers each such order with
one line: the seconds of each message, and the Host's memory at its largest.
"""

import http.client
import json
import os
import select
import sys
import time
from collections.abc import Callable, Iterator
from itertools import repeat
from pathlib import Path

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TEXT = "one two three"


def main(address: str, key: str, body: str, pid: str) -> None:
    connection = http.client.HTTPConnection(address, timeout=30)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def ask() -> float:
        started_at = time.perf_counter()
        connection.request("POST", "/api/v1/events?wait=result", body, headers)
        answer = connection.getresponse()
        content = answer.read()
        taken = time.perf_counter() - started_at
        assert answer.status == 200, content
        assert json.loads(content)["messages"][0]["content"] == TEXT
        return taken

    while line := sys.stdin.readline():
        sys.stdout.write(json.dumps(_measure(ask, _turns(line.strip()), Path("/proc", pid, "statm"))) + "\n")
        sys.stdout.flush()


def _measure(ask: Callable[[], float], turns: Iterator[None], statm: Path) -> dict[str, object]:
    seconds, memory = [], 0
    for _ in turns:
        seconds.append(ask())
        memory = max(memory, int(statm.read_text().split()[1]) * PAGE_BYTES)
    return {"seconds": seconds, "memory": memory}


def _turns(count: str) -> Iterator[None]:
    if count:
        yield from repeat(None, int(count))
    else:
        while not select.select([sys.stdin], [], [], 0)[0]:
            yield None
        sys.stdin.readline()


if __name__ == "__main__":
    main(*sys.argv[1:])
