"""A plugin's folder to spoil."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

MANIFEST = """
apiVersion: parlour/v1
kind: Plugin
metadata: {author: acme, name: hello, version: 0.1.0}
spec:
  components: [runner.yaml]
"""
RUNNER = """
apiVersion: parlour/v1
kind: AgentRunner
metadata: {name: default, label: {en_US: Hello}}
spec:
  capabilities: {streaming: true}
execution:
  python: {path: runner.py, attr: Runner}
"""
CODE = """
from parlour_sdk import results
from parlour_sdk.components import AgentRunner


class Runner(AgentRunner):
    async def run(self, ctx, api):
        yield results.delta(ctx.input.text)
        yield results.completed(ctx.input.text)
        yield results.finished()


class NotARunner:
    pass


class Plain(AgentRunner):
    async def run(self, ctx, api):
        return []
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A good plugin; what loading it leaves in this process is taken away again."""
    (tmp_path / "manifest.yaml").write_text(MANIFEST)
    (tmp_path / "runner.yaml").write_text(RUNNER)
    (tmp_path / "runner.py").write_text(CODE)
    path, modules = list(sys.path), set(sys.modules)
    yield tmp_path
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith("plugin_"):
            del sys.modules[name]
