"""Writes small plugins whose fault or version a test chooses."""

import zipfile
from pathlib import Path

MANIFEST = """\
apiVersion: parlour/v1
kind: Plugin
metadata: {{author: test, name: {name}, version: {version}}}
spec:
  components: [default.yaml]
  permissions: {permissions}
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


REMEMBERING = """\
from parlour_sdk import results
from parlour_sdk.components import AgentRunner


class Runner(AgentRunner):
    async def run(self, ctx, api):
        kept = [f"{area} {name}" for area in ("plugin", "binding") for name in (await api.storage.list(area)).keys]
        for area in ("plugin", "binding"):
            await api.storage.set(area, ctx.input.text, b"mine")
        yield results.completed(", ".join(kept) or "nothing")
"""


def write_plugin(
    folder: Path,
    name: str,
    version: str = "0.1.0",
    answer: str = "here",
    prelude: str = "",
    permissions: str = "{}",
    requirements: str | None = None,
) -> Path:
    """Writes a plugin `test/<name>` that gives one answer. `prelude` is code that runs when it is imported."""
    folder.mkdir()
    manifest = MANIFEST.format(name=name, version=version, permissions=permissions)
    if requirements is not None:
        manifest += "execution: {requirements: requirements.txt}\n"
        (folder / "requirements.txt").write_text(requirements)
    (folder / "manifest.yaml").write_text(manifest)
    (folder / "default.yaml").write_text(COMPONENT)
    (folder / "runner.py").write_text(CODE.format(prelude=prelude, answer=answer))
    return folder


def write_remembering_plugin(folder: Path, name: str) -> Path:
    """Writes a plugin that stores the text of a message in the Host and answers with the text that
    it had stored before.
    """
    write_plugin(folder, name)
    wants = "  permissions: {storage: [plugin, binding]}\n"
    (folder / "default.yaml").write_text(COMPONENT.replace("execution:", f"{wants}execution:"))
    (folder / "runner.py").write_text(REMEMBERING)
    return folder


def write_zip(folder: Path) -> Path:
    """Packs the plugin's folder beside it, as users pack a folder."""
    file = folder.with_suffix(".zip")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(folder.rglob("*")):
            packed.write(path, f"{folder.name}/{path.relative_to(folder)}")
    return file
