"""Writes small plugins whose fault or version a test chooses."""

from pathlib import Path

MANIFEST = """\
apiVersion: parlour/v1
kind: Plugin
metadata: {{author: test, name: {name}, version: {version}}}
spec:
  components: [default.yaml]
"""
COMPONENT = """\
apiVersion: parlour/v1
kind: AgentRunner
metadata: {name: default}
spec:
  capabilities: {streaming: true}
execution:
  python: {path: runner.py, attr: Runner}
"""
CODE = """\
from parlour_sdk import results
from parlour_sdk.components import AgentRunner

{prelude}

class Runner(AgentRunner):
    async def run(self, ctx, api):
        yield results.completed({answer!r})
"""


def write_plugin(folder: Path, name: str, version: str = "0.1.0", answer: str = "here", prelude: str = "") -> Path:
    """A plugin `test/<name>` that gives one answer; `prelude` is code that runs when it is imported."""
    folder.mkdir()
    (folder / "manifest.yaml").write_text(MANIFEST.format(name=name, version=version))
    (folder / "default.yaml").write_text(COMPONENT)
    (folder / "runner.py").write_text(CODE.format(prelude=prelude, answer=answer))
    return folder
