"""Runs a real Host with scripted providers and returns the calls that they received."""

import sys
from pathlib import Path

from .harness import ROOT, Host

CALLING_PLUGIN = ROOT / "tests" / "fixtures" / "plugins" / "calling-agent"
CALLER = "plugin:test/calling-agent/default"
PLUGIN_ID = "test/calling-agent"
EVERYTHING = {"models": "*", "tools": "*", "knowledge_bases": "*", "skills": "*", "files": "*"}


class ScriptedHost(Host):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._seen = folder / "seen.txt"
        self._seen.touch()

    def _command(self) -> list[str]:
        return [sys.executable, "-m", "parlour.testing.scripted_host", str(self.data), str(self._seen)]

    def caller(self, **fields: object) -> str:
        """Returns the id of an agent that makes the calls that its message lists."""
        return self.agent(CALLER, **{"resource_policy": EVERYTHING, **fields})

    def seen(self) -> list[str]:
        """Returns the calls to its providers since the test began, restarts included."""
        return self._seen.read_text().splitlines()

    def forget(self) -> None:
        self._seen.write_text("")
