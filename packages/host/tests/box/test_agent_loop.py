"""Tests that the agent in a sandbox sleeps while nothing happens, in a process of its own as in a sandbox."""

import subprocess
import sys
from pathlib import Path

import parlour.box.agent

AGENT = Path(parlour.box.agent.__file__).parent
PROGRAM = """
import gc, os, runpy, signal, sys
sys.path.insert(0, sys.argv[1])
agent_type = runpy.run_path(sys.argv[1] + "/__main__.py", run_name="agent")["SandboxAgent"]
(requests, writing), (reading, answers) = os.pipe(), os.pipe()
agent = agent_type(requests, answers)
gc.collect()
print("idle:", len(agent._selector.select(0)))
os.kill(os.getpid(), signal.SIGCHLD)
[(key, _)] = agent._selector.select(5)
key.data()
print("after a child's end:", len(agent._selector.select(0)))
"""


def test_an_agent_wakes_for_the_end_of_a_child_and_for_nothing_else() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, AGENT], capture_output=True, text=True, timeout=30, check=False
    )
    assert ran.stdout == "idle: 0\nafter a child's end: 0\n", ran.stderr
