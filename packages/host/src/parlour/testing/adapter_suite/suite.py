"""Lists the rows that an adapter has to pass."""

from collections.abc import Iterator
from typing import Final

from parlour.core.platforms.manifest import AdapterManifest

from . import adapter_rows, capability_rows, host_rows
from .rows import BEHAVIOURS, Row, absence_key

BEHAVIOUR_MODULES: Final = (host_rows, adapter_rows)
"""Modules that register behaviours when they are imported."""


def rows_of(manifest: AdapterManifest) -> Iterator[Row]:
    """Yields the rows of an adapter with this manifest."""
    for name in manifest.supported_events:
        yield Row("events", name, capability_rows.event_reaches_a_plugin(name))
    for name in manifest.components.receive:
        yield Row("receive", name, capability_rows.component_is_received(name))
    for name in manifest.components.send:
        yield Row("send", name, capability_rows.component_is_sent(name))
    for name in manifest.supported_apis:
        yield Row("apis", name, capability_rows.call_works(name))
    for name in manifest.actions:
        yield Row("actions", name, capability_rows.call_works(name))
    yield from (row for row in BEHAVIOURS.values() if absence_key(row.name) not in manifest.not_supported)
