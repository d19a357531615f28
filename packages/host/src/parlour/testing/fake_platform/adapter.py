"""Provides the adapter of the fake platform, and a catalogue that offers it beside other adapters."""

import asyncio
from collections.abc import Mapping
from typing import Any

from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.platforms.port import Adapter, AdapterCatalogue, HostLink

from .api import FakeApi
from .manifest import manifest as whole_manifest
from .world import FakePlatform


class FakeAdapter:
    def __init__(self, link: HostLink, platform: FakePlatform) -> None:
        self._link = link
        self._platform = platform

    async def serve(self) -> None:
        await self._platform.connect(self._link)
        try:
            await asyncio.Event().wait()
        finally:
            self._platform.disconnect(self._link)

    def api(self, account: str = "") -> FakeApi:
        return FakeApi(self._platform, self._link)


class FakeCatalogue:
    """Offers the fake platform, and those of another catalogue if one is given."""

    def __init__(
        self, platform: FakePlatform, manifest: AdapterManifest | None = None, beside: AdapterCatalogue | None = None
    ) -> None:
        self._platform = platform
        self._manifest = manifest or whole_manifest()
        self._other_catalogue = beside

    def manifests(self) -> Mapping[str, AdapterManifest]:
        other_manifests = self._other_catalogue.manifests() if self._other_catalogue is not None else {}
        return {**other_manifests, self._manifest.name: self._manifest}

    def config_problems(self, name: str, config: Mapping[str, Any]) -> list[tuple[str, str]]:
        return self._other_catalogue.config_problems(name, config) if self._other_catalogue is not None else []

    def create(self, name: str, link: HostLink) -> Adapter:
        if name == self._manifest.name:
            return FakeAdapter(link, self._platform)
        if self._other_catalogue is None:
            raise KeyError(name)
        return self._other_catalogue.create(name, link)
