"""Finds adapters that were installed separately, by the entry point group `parlour.platforms`.

They run as trusted code of the Host, so only those that the setting `platforms.external` names are loaded. While it
names none, installed packages are not searched.
"""

import logging
from collections.abc import Collection, Mapping
from importlib.util import find_spec
from pathlib import Path

from pydantic import ValidationError

from parlour.core.platforms.manifest import AdapterManifest
from parlour_sdk.values import dataclass

from .manifests import MANIFEST_FILE, read_manifest

logger = logging.getLogger(__name__)

GROUP = "parlour.platforms"


@dataclass(frozen=True, slots=True)
class ExternalAdapter:
    """An adapter of an installed package: its manifest, and the package that contains its modules."""

    manifest: AdapterManifest
    package: str


@dataclass(frozen=True, slots=True)
class ExternalAdapters:
    """The adapters that were found, and a message for each that was not."""

    found: Mapping[str, ExternalAdapter]
    problems: tuple[str, ...] = ()


class _NotUsable(Exception):
    """Raised with the reason why an adapter can't be loaded."""


def find_external_adapters(names: Collection[str], reserved: Collection[str]) -> ExternalAdapters:
    """Finds the named adapters. A platform of the Host itself, whose names are `reserved`, is never replaced."""
    if not names:
        return ExternalAdapters({})
    found: dict[str, ExternalAdapter] = {}
    problems: list[str] = []
    for name in names:
        try:
            found[name] = _find(name, reserved)
        except _NotUsable as error:
            problems.append(f"platforms.external names '{name}': {error}")
            logger.warning("%s", problems[-1])
    return ExternalAdapters(found, tuple(problems))


def _find(name: str, reserved: Collection[str]) -> ExternalAdapter:
    from importlib.metadata import entry_points

    if name in reserved:
        raise _NotUsable("this platform is part of Parlour and can't be replaced")
    packages = {entry.value for entry in entry_points(group=GROUP, name=name)}
    if not packages:
        raise _NotUsable(f"no installed package has it in the entry point group {GROUP}")
    if len(packages) > 1:
        raise _NotUsable(f"several installed packages have it: {', '.join(sorted(packages))}")
    [package] = packages
    manifest = _read(package)
    if manifest.name != name:
        raise _NotUsable(f"the manifest of {package} is for '{manifest.name}'")
    return ExternalAdapter(manifest.model_copy(update={"external": True}), package)


def _read(package: str) -> AdapterManifest:
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        spec = None
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    file = next((each for folder in folders if (each := Path(folder, MANIFEST_FILE)).is_file()), None)
    if file is None:
        raise _NotUsable(f"{package} is not a package with a {MANIFEST_FILE}")
    try:
        return read_manifest(file)
    except (OSError, ValueError, ValidationError) as error:
        reason = str(error).replace("\n", " ")[:300]
        raise _NotUsable(f"the manifest of {package} can't be used: {reason}") from None
