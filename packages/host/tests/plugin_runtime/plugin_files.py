"""Writes and packs plugins for tests, and lists the files of a folder."""

import zipfile
from pathlib import Path

from parlour.plugin_runtime.packages.sources import Package, PackageRules, stage

RUNNER = """
apiVersion: parlour/v1
kind: AgentRunner
metadata: {name: default}
execution: {python: {path: runner.py, attr: Runner}}
"""


def write_plugin(
    folder: Path,
    author: str = "acme",
    name: str = "hello",
    version: str = "1.0",
    permissions: str = "{}",
    requirements: str | None = None,
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    execution = "" if requirements is None else "execution: {requirements: requirements.txt}\n"
    (folder / "manifest.yaml").write_text(
        f"apiVersion: parlour/v1\nkind: Plugin\n"
        f"metadata: {{author: '{author}', name: '{name}', version: '{version}'}}\n"
        f"spec: {{components: [runner.yaml], permissions: {permissions}}}\n{execution}"
    )
    (folder / "runner.yaml").write_text(RUNNER)
    (folder / "runner.py").write_text(f"VERSION = {version!r}\n")
    if requirements is not None:
        (folder / "requirements.txt").write_text(requirements)
    return folder


def write_zip(file: Path, folder: Path, inside: str = "") -> Path:
    with zipfile.ZipFile(file, "w") as packed:
        for path in sorted(folder.rglob("*")):
            packed.write(path, f"{inside}{path.relative_to(folder)}")
    return file


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def deep(folder: Path, levels: int) -> Path:
    """Makes nested folders from the innermost one, since a long path can't be opened."""
    inner = folder.parent / "level"
    inner.mkdir()
    (inner / "file.txt").write_text("deep")
    for _ in range(levels):
        above = folder.parent / "above"
        above.mkdir()
        inner.rename(above / "d")
        inner = above.rename(folder.parent / "level")
    return inner.rename(folder / "d")


async def load(source: object, staging: Path, **rules: object) -> Package:
    """Stages a package from any source."""
    return await stage(str(source), None, staging, PackageRules(**rules))  # type: ignore[arg-type]
