"""Reading the memory of many processes is expensive for the kernel, so it is spread over time."""

import os
import subprocess
import sys

import pytest

from parlour.isolation import process_tree
from parlour.isolation.process_tree import ProcessTree


def test_the_pause_after_each_process_is_longer_than_its_read(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([0.0, 0.01, 1.0, 1.02])
    pauses: list[float] = []
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        tree = ProcessTree(os.getpid(), "mark")
        seen = [each for each in tree.alive() if each.pid in (os.getpid(), child.pid)]
        monkeypatch.setattr(tree, "alive", lambda: seen)
        monkeypatch.setattr(process_tree.time, "monotonic", lambda: next(moments))
        monkeypatch.setattr(process_tree.time, "sleep", pauses.append)
        assert tree.proportional_bytes() > 0
    finally:
        monkeypatch.undo()
        child.communicate(b"\n")
    assert pauses == pytest.approx([0.04, 0.08])
