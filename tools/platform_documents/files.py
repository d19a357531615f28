"""Lists the generated pages with their content."""

from pathlib import Path

from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.testing.evidence import Evidence

from .cells import Adapter
from .pages import matrix, page


def adapters(documents: Path) -> list[Adapter]:
    evidence = documents / "platforms" / "evidence"
    return [
        Adapter(manifest, Evidence(evidence / f"{name}.json").read())
        for name, manifest in BuiltinAdapterCatalogue().manifests().items()
    ]


def pages(documents: Path) -> dict[str, str]:
    """Returns the pages by their path in the documentation."""
    all_adapters = adapters(documents)
    contents = {"platforms/README.md": matrix(all_adapters)}
    for adapter in all_adapters:
        name = adapter.manifest.name
        contents[f"platforms/{name}.md"] = page(adapter, (documents / "platforms" / f"{name}-guide.md").exists())
    return contents
