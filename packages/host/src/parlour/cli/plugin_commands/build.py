"""`parlour plugin build`: writes a reproducible zip of the files that would be installed."""

import asyncio
import hashlib
import os
import stat
import tempfile
import zipfile
from pathlib import Path

from parlour.app.settings import HostSettings
from parlour.plugin_runtime.packages.archive import SizeLimits
from parlour.plugin_runtime.packages.release_requirement import required_release
from parlour.plugin_runtime.packages.sources import Package, PackageRules, stage
from parlour_sdk.plugin import PluginDefinition, PluginInvalid
from parlour_sdk.plugin.reader import MANIFEST_FILE

from ..main import CommandError
from . import plugin_python
from .validate import ValidPlugin, validate_plugin

ENTRY_TIME = (1980, 1, 1, 0, 0, 0)
"""Time of all entries, the earliest that a zip can store; with the real one every build would differ."""
UNIX = 3
"""Code of Unix as the system that created a zip entry."""


def run(settings: HostSettings, path: Path, output: Path | None) -> None:
    valid = validate_plugin(settings, path, plugin_python.author_interpreters(settings))
    target = _target(valid, output)
    try:
        with tempfile.TemporaryDirectory() as staging:
            package = asyncio.run(_stage(settings, valid, Path(staging)))
            _add_requirement(package.plugin)
            content = _write(package, target)
    except PluginInvalid as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        raise CommandError(f"{target} can't be written: {error.strerror or error}") from error
    print(f"{target}  {len(content)} bytes  sha256 {hashlib.sha256(content).hexdigest()}")


def _target(valid: ValidPlugin, output: Path | None) -> Path:
    """Returns the path of the zip. It is beside the plugin, not inside, where the next build would pack it."""
    plugin, metadata = valid.plugin, valid.plugin.manifest.metadata
    folder = plugin.folder.parent if plugin.file is None else plugin.folder
    target = (
        output or folder / _safe_file_name(f"{metadata.author}-{metadata.name}-{metadata.version}.zip")
    ).absolute()
    if plugin.file is None and target.resolve().is_relative_to(plugin.folder.resolve()):
        raise CommandError(f"{target} is inside the plugin's folder and would become part of it; name another place")
    return target


def _safe_file_name(name: str) -> str:
    """Replaces characters that are not allowed in a file name: a version may be any text."""
    return "".join(each if each.isalnum() or each in ".+-_" else "_" for each in name)


async def _stage(settings: HostSettings, valid: ValidPlugin, staging: Path) -> Package:
    sizes = SizeLimits(settings.plugins.package_files, settings.plugins.package_bytes)
    return await stage(str(valid.plugin.file or valid.plugin.folder), None, staging, PackageRules(sizes))


def _add_requirement(plugin: PluginDefinition) -> None:
    """Writes the release that the plugin needs into its staged manifest, unless its author did."""
    if plugin.manifest.spec.requires.parlour:
        return
    file = plugin.folder / MANIFEST_FILE
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    places = [number for number, line in enumerate(lines) if line.split("#")[0].rstrip() == "spec:"]
    if not places:  # a spec in one line, or none
        return
    indentation = next((line[: len(line) - len(line.lstrip())] for line in lines[places[0] + 1 :] if line.strip()), "")
    requirement = f'{indentation or "  "}requires: {{parlour: "{required_release(plugin)}"}}\n'
    file.write_text("".join([*lines[: places[0] + 1], requirement, *lines[places[0] + 1 :]]), encoding="utf-8")


def _write(package: Package, target: Path) -> bytes:
    """Writes the zip atomically and returns its content."""
    folder = package.plugin.folder
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as packed:
            for file in sorted(each for each in folder.rglob("*") if each.is_file()):
                packed.writestr(_entry(file, folder), file.read_bytes())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    return target.read_bytes()


def _entry(file: Path, folder: Path) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(file.relative_to(folder).as_posix(), ENTRY_TIME)
    executable = file.stat().st_mode & stat.S_IXUSR
    entry.create_system = UNIX
    entry.external_attr = (stat.S_IFREG | (0o755 if executable else 0o644)) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry
