"""Converts a single-file plugin into the folder that is installed."""

from pathlib import Path

import yaml

from . import errors
from .reader import REQUIREMENTS_FILE, read_plugin

MAIN_FILE = "main.py"


def package_files(file: Path) -> dict[str, bytes]:
    """Returns the folder's files by name: manifest, the file itself as main.py, and requirements if there are any."""
    plugin = read_plugin(file)
    if plugin.file is None:
        raise errors.not_a_single_file(file)
    manifest = plugin.manifest.model_dump(mode="json", exclude_defaults=True)
    manifest["execution"] = {"python": {"path": MAIN_FILE}}
    files = {MAIN_FILE: file.read_bytes()}
    if plugin.requirements:
        manifest["execution"]["requirements"] = REQUIREMENTS_FILE
        files[REQUIREMENTS_FILE] = "".join(f"{line}\n" for line in plugin.requirements).encode()
    text = yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True)
    return {"manifest.yaml": text.encode(), **files}
