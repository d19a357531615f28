"""Provides folders with plugins that tests can change."""

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
def workshop(tmp_path: Path) -> Iterator[Path]:
    """Provides a folder for plugins, and removes the modules and paths that loading them adds to this process."""
    place = tmp_path / "a workshop"
    place.mkdir()
    path, modules = list(sys.path), set(sys.modules)
    yield place
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith("plugin_") or str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def folder(workshop: Path) -> Path:
    """Provides a folder with a valid plugin."""
    (workshop / "manifest.yaml").write_text(MANIFEST)
    (workshop / "runner.yaml").write_text(RUNNER)
    (workshop / "runner.py").write_text(CODE)
    return workshop
