"""Lists the generated pages with their content."""

import json
from pathlib import Path

from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.testing.evidence import Evidence, Shown

from .cells import Adapter
from .pages import matrix, page


def adapters(documents: Path) -> list[Adapter]:
    evidence = documents / "platforms" / "evidence"
    return [
        Adapter(manifest, {**Evidence(evidence / f"{name}.json").read(), **live(evidence / "live" / f"{name}.json")})
        for name, manifest in BuiltinAdapterCatalogue().manifests().items()
    ]


def live(record: Path) -> Shown:
    """Returns what a record of `parlour platform probe` has shown; nothing if there is none."""
    return {"live": json.loads(record.read_text(encoding="utf-8"))["shown"]} if record.exists() else {}


def pages(documents: Path) -> dict[str, str]:
    """Returns the pages by their path in the documentation."""
    all_adapters = adapters(documents)
    contents = {"platforms/README.md": matrix(all_adapters)}
    for adapter in all_adapters:
        name = adapter.manifest.name
        contents[f"platforms/{name}.md"] = page(adapter, (documents / "platforms" / f"{name}-guide.md").exists())
    return contents
