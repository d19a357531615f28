"""Lists the platforms of this Host. Manifests are read on first use, a platform's code when its first bot starts."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.platforms.port import Adapter, AdapterFactory, HostLink

MANIFEST_FILE = "manifest.yaml"


class BuiltinAdapterCatalogue:
    """Catalogue of the platform folders beside this module."""

    def __init__(self) -> None:
        self._factories: dict[str, AdapterFactory] = {}

    def manifests(self) -> Mapping[str, AdapterManifest]:
        return _manifests()

    def config_problems(self, name: str, config: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Returns the problems that the platform's `configuration` module finds; none if it has no such module because
        its form checks everything.
        """
        module = f"{__package__}.{name}.configuration"
        if name not in self.manifests() or find_spec(module) is None:
            return []
        found: list[tuple[str, str]] = import_module(module).problems(config)
        return found

    def create(self, name: str, link: HostLink) -> Adapter:
        """Creates the adapter of a platform. Raises KeyError if there is no such platform."""
        if name not in self.manifests():
            raise KeyError(name)
        if name not in self._factories:
            self._factories[name] = import_module(f"{__package__}.{name}.adapter").adapter_factory()
        return self._factories[name](link)


@cache
def _manifests() -> Mapping[str, AdapterManifest]:
    found = (read_manifest(file) for file in sorted(Path(__file__).parent.glob(f"*/{MANIFEST_FILE}")))
    return {manifest.name: manifest for manifest in found}


def read_manifest(file: Path) -> AdapterManifest:
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # about ten times as fast, where it is available
    return AdapterManifest.model_validate(yaml.load(file.read_text(encoding="utf-8"), loader))
