"""Turns a source (a folder, a file, a zip, a git address) into a checked plugin in a staging folder."""

import asyncio
import os
import zipfile
from dataclasses import field
from pathlib import Path

from parlour.core.model.ids import PluginId
from parlour.version import VERSION
from parlour_sdk.plugin import PluginDefinition, PluginInvalid, package_files, read_plugin
from parlour_sdk.values import dataclass

from ..store import require_safe_name
from . import bundled, file_tree, git
from .archive import SizeLimits, unpack
from .release_requirement import check_release
from .requirements import Requirements, read_requirements

MAX_NAME_BYTES = 255
MAX_VERSION_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class PackageRules:
    sizes: SizeLimits = field(default_factory=SizeLimits)
    fetch_seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class Package:
    """A plugin that was read and checked, in a folder of its own."""

    plugin: PluginDefinition
    requirements: Requirements
    source: str
    sha256: str
    warnings: tuple[str, ...]
    """Oddities that do no harm."""

    @property
    def plugin_id(self) -> PluginId:
        return PluginId(self.plugin.manifest.identity)

    @property
    def version(self) -> str:
        return self.plugin.manifest.metadata.version


async def stage(source: str, display_name: str | None, staging: Path, rules: PackageRules) -> Package:
    """Stages a source. Raises PluginInvalid, or OSError if the disk refuses. Writes only into `staging`."""
    if "\0" in source:
        raise PluginInvalid("the source has a character that no path and no address may have; leave it out")
    if source.startswith(bundled.PREFIX):
        folder = bundled.bundled_folder(source)
        return await asyncio.to_thread(_stage_folder, folder, source, staging, rules)
    if git.is_address(source):
        address = git.parse(source)
        fetched = await git.fetch(address, staging / "fetched", rules.fetch_seconds, rules.sizes)
        return await asyncio.to_thread(_stage_folder, fetched, address.display_url, staging, rules)
    try:
        return await asyncio.to_thread(_stage_local, _path(source), display_name, staging, rules)
    except (PermissionError, FileNotFoundError) as error:
        if error.filename is None or Path(error.filename).is_relative_to(staging):
            raise
        raise PluginInvalid(
            f"{error.filename} can't be read: {error.strerror}; let the user that runs Parlour read it, and try again"
        ) from error


def _path(source: str) -> Path:
    try:
        path = Path(source).expanduser()
    except RuntimeError:
        raise PluginInvalid(f"'{source}' names a user who is not there; write the whole path") from None
    if any(len(os.fsencode(part)) > MAX_NAME_BYTES for part in path.parts):
        raise PluginInvalid("the source is no path: a name in it is too long for a file")
    return path


def _stage_local(path: Path, display_name: str | None, staging: Path, rules: PackageRules) -> Package:
    source = display_name or str(path.absolute())
    if path.is_dir():
        _check_location(path, staging)
        read_plugin(path)  # errors name the path that the operator knows
        return _stage_folder(path, source, staging, rules)
    if not path.is_file():
        raise PluginInvalid(
            f"{path} is not there; name a folder, a .py file, a zip or a git address ({git.ACCEPTED_FORMS})"
        )
    if path.suffix == ".py":
        return _stage_folder(_write_single_file(path, staging / "made"), source, staging, rules)
    with path.open("rb") as file:
        if not zipfile.is_zipfile(file):
            raise PluginInvalid(f"{path} is neither a folder nor a zip file; a plugin is a folder with a manifest.yaml")
    unpacked = staging / "unpacked"
    unpacked.mkdir()
    unpack(path, unpacked, rules.sizes, Path(source).name)
    return _stage_folder(_plugin_root(unpacked), source, staging, rules)


def _stage_folder(folder: Path, source: str, staging: Path, rules: PackageRules) -> Package:
    code = staging / "code"
    try:
        file_tree.copy(folder, code, rules.sizes)
        plugin = read_plugin(code)
        for part in (plugin.manifest.metadata.author, plugin.manifest.metadata.name):
            require_safe_name(part)
        _check_version(plugin.manifest.metadata.version)
        check_release(plugin.manifest.spec.requires, VERSION)
        warnings = tuple(_strip_folders(warning, code) for warning in plugin.warnings)
        return Package(plugin, read_requirements(plugin), source, file_tree.digest(code), warnings)
    except PluginInvalid as error:
        raise PluginInvalid(_strip_folders(str(error), code, folder)) from error


def _check_location(folder: Path, staging: Path) -> None:
    """Raises PluginInvalid if a copy of the folder would become part of what is copied."""
    resolved = staging.resolve()
    if resolved.is_relative_to(folder.resolve()) and not set(resolved.relative_to(folder.resolve()).parts) & set(
        file_tree.EXCLUDED_NAMES
    ):
        raise PluginInvalid(
            f"the data directory lies in the plugin's folder {folder}: choose another one with --data, "
            "or move it out of that folder"
        )


def _check_version(version: str) -> None:
    if not 1 <= len(version) <= MAX_VERSION_CHARACTERS or not version.isprintable():
        raise PluginInvalid(
            f"manifest.yaml: metadata.version has {len(version)} characters; use 1 to {MAX_VERSION_CHARACTERS} "
            "that can be printed, such as 0.1.0"
        )


def _write_single_file(file: Path, folder: Path) -> Path:
    """Creates the folder of a plugin that is one file."""
    files = package_files(file)
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def _strip_folders(message: str, *folders: Path) -> str:
    """Removes folders from a message, so that it names files as the plugin author knows them."""
    for folder in folders:
        message = message.replace(f"{folder}/", "")
    return message


def _plugin_root(unpacked: Path) -> Path:
    """Returns the plugin's folder. A zip of a folder has that folder at its top, perhaps beside what macOS adds."""
    if (unpacked / "manifest.yaml").exists():
        return unpacked
    folders = [path for path in unpacked.iterdir() if path.is_dir() and path.name != "__MACOSX"]
    if len(folders) == 1 and (folders[0] / "manifest.yaml").exists():
        return folders[0]
    raise PluginInvalid(
        "there is no manifest.yaml at its top, nor in a single folder at its top; pack the plugin's own folder "
        "(parlour plugin build does)"
    )
