"""Determines what a page can claim about one capability of an adapter: the strongest evidence, or why there is none."""

from collections.abc import Iterator
from dataclasses import dataclass

from parlour.core.platforms.manifest import AdapterManifest
from parlour.testing.adapter_suite import BEHAVIOURS, absence_key
from parlour.testing.evidence import LEVELS, Shown
from parlour.testing.platform_surface import APIS, COMPONENTS, EVENTS

UNPROVEN = "unproven"
NOT_SUPPORTED = "not-supported"


@dataclass(frozen=True)
class Cell:
    section: str
    name: str
    level: str
    reason: str = ""


@dataclass(frozen=True)
class Adapter:
    manifest: AdapterManifest
    shown: Shown

    def cells(self) -> Iterator[Cell]:
        manifest = self.manifest
        own_prefix = f"platform.{manifest.name}.*"
        for name in (*EVENTS, own_prefix):
            yield self._cell("events", name, name in manifest.supported_events, name)
        for section, declared in (("receive", manifest.components.receive), ("send", manifest.components.send)):
            for name in COMPONENTS:
                yield self._cell(section, name, name in declared, f"{section} {name}")
        for name in APIS:
            if name in manifest.seen_apis:
                yield Cell("apis", name, "seen")
            else:
                yield self._cell("apis", name, name in manifest.supported_apis, name)
        for name in manifest.actions:
            yield self._cell("actions", name, True, name)
        for name in BEHAVIOURS:
            key = absence_key(name)
            yield self._cell("behaviours", name, key not in manifest.not_supported, key)

    def _cell(self, section: str, name: str, declared: bool, key: str) -> Cell:
        if not declared:
            return Cell(section, name, NOT_SUPPORTED, self.manifest.not_supported.get(key, ""))
        proven = (level for level in LEVELS if name in self.shown.get(level, {}).get(section, ()))
        return Cell(section, name, next(proven, UNPROVEN))
