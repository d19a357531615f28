"""Reads the manifests of adapters."""

from pathlib import Path
from typing import Any

from parlour.core.platforms.manifest import AdapterManifest

from ._kit.proxy_fields import with_proxy_fields

MANIFEST_FILE = "manifest.yaml"


def read_manifest(file: Path) -> AdapterManifest:
    """Reads a manifest and adds the form fields that all adapters share. Raises ValueError if it is not valid."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # about ten times as fast, where it is available
    try:
        content = yaml.load(file.read_text(encoding="utf-8"), loader)
    except yaml.YAMLError as error:
        raise ValueError(f"it is no YAML: {error}") from error
    return with_proxy_fields(AdapterManifest.model_validate(content))
