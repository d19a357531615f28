"""Lists the platforms of this Host. Manifests are read on first use, a platform's code when its first bot starts."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from parlour.core.platforms.login import PlatformLogin
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.platforms.port import Adapter, AdapterFactory, HostLink

from ._kit.proxy_fields import proxy_problems
from .external import ExternalAdapters, find_external_adapters
from .manifests import MANIFEST_FILE, read_manifest


class BuiltinAdapterCatalogue:
    """Catalogue of the platform folders beside this module, and of the external adapters that the settings name."""

    def __init__(self, external: Sequence[str] = ()) -> None:
        self._external_names = tuple(external)
        self._external: ExternalAdapters | None = None
        self._factories: dict[str, AdapterFactory] = {}

    def manifests(self) -> Mapping[str, AdapterManifest]:
        external = self._external_adapters().found
        if not external:
            return _manifests()
        return {**_manifests(), **{name: each.manifest for name, each in external.items()}}

    def external_problems(self) -> Sequence[str]:
        """Returns a message for each external adapter that is named in the settings and can't be loaded."""
        return self._external_adapters().problems

    def config_problems(self, name: str, config: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Returns the problems of the proxy, and those that the platform's `configuration` module finds; it has no
        such module if its form checks everything.
        """
        manifest = self.manifests().get(name)
        if manifest is None:
            return []
        config_errors = proxy_problems(config) if manifest.connects_out else []
        module = f"{self._package(name)}.configuration"
        if find_spec(module) is not None:
            config_errors += import_module(module).problems(config)
        return config_errors

    def create(self, name: str, link: HostLink) -> Adapter:
        """Creates the adapter of a platform. Raises KeyError if there is no such platform."""
        if name not in self.manifests():
            raise KeyError(name)
        if name not in self._factories:
            self._factories[name] = import_module(f"{self._package(name)}.adapter").adapter_factory()
        return self._factories[name](link)

    def create_login(self, name: str, config: Mapping[str, Any]) -> PlatformLogin | None:
        """Returns the login of a platform, from its `login` module; None if a person can't log in to it."""
        manifest = self.manifests().get(name)
        if manifest is None or not manifest.login:
            return None
        login: PlatformLogin = import_module(f"{self._package(name)}.login").create_login(config)
        return login

    def _package(self, name: str) -> str:
        external = self._external_adapters().found.get(name)
        return external.package if external is not None else f"{__package__}.{name}"

    def _external_adapters(self) -> ExternalAdapters:
        if self._external is None:
            self._external = find_external_adapters(self._external_names, _manifests())
        return self._external


@cache
def _manifests() -> Mapping[str, AdapterManifest]:
    manifests = (read_manifest(file) for file in sorted(Path(__file__).parent.glob(f"*/{MANIFEST_FILE}")))
    return {manifest.name: manifest for manifest in manifests}
