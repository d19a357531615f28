"""Tests that the pages about platforms match manifests and evidence, and that guides quote existing status messages."""

import re
from pathlib import Path

import pytest

from parlour.cli.platform_commands.record import ProbeRecord
from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from tools.host_texts.extraction import sentences
from tools.platform_documents.cells import UNPROVEN, Adapter
from tools.platform_documents.files import adapters, live, pages

ROOT = Path(__file__).parents[2]
DOCUMENTS = ROOT / "docs"
ADAPTERS = ROOT / "packages/host/src/parlour/platforms"


def test_the_pages_match_manifests_and_evidence() -> None:
    for name, text in pages(DOCUMENTS).items():
        assert (DOCUMENTS / name).read_text(encoding="utf-8") == text, f"{name} is old; make documents"


def test_nothing_is_declared_without_evidence_or_missing_without_a_reason() -> None:
    for adapter in adapters(DOCUMENTS):
        for cell in adapter.cells():
            assert cell.level != UNPROVEN, (adapter.manifest.name, cell)
            assert cell.level != "not-supported" or cell.reason, (adapter.manifest.name, cell)


def test_a_record_of_a_probe_raises_its_rows_to_live(tmp_path: Path) -> None:
    record = ProbeRecord("kook", "gateway", "1.0", "2026-01-01")
    record.show("apis", "send_message")
    record.fail("apis", "react", "refused")
    record.write(tmp_path / "kook.json")
    known = next(each for each in adapters(DOCUMENTS) if each.manifest.name == "kook")
    raised = Adapter(known.manifest, {**known.shown, **live(tmp_path / "kook.json")})
    changed = [cell for cell, before in zip(raised.cells(), known.cells(), strict=True) if cell != before]
    assert [(cell.section, cell.name, cell.level) for cell in changed] == [("apis", "send_message", "live")]
    assert live(tmp_path / "none.json") == {}


def test_evidence_claims_nothing_that_is_not_declared() -> None:
    for adapter in adapters(DOCUMENTS):
        declared = {(cell.section, cell.name) for cell in adapter.cells() if cell.level != "not-supported"}
        shown = {
            (section, name)
            for sections in adapter.shown.values()
            for section, names in sections.items()
            for name in names
        }
        assert shown <= declared


@pytest.mark.parametrize("platform", sorted(BuiltinAdapterCatalogue().manifests()))
def test_a_guide_quotes_status_messages_that_the_adapter_has(platform: str) -> None:
    """The sign `…` in a quoted message stands for a value; a message of the kit begins with the service's name."""
    folders = (ADAPTERS / platform, ADAPTERS / "_host")
    sources = [file.read_text() for folder in folders for file in folder.glob("*.py")]
    services = [name for source in sources for name in re.findall(r'(?:SERVICE = |Client\()"(.*?)"', source)]
    shared = [each for file in (ADAPTERS / "_kit").glob("*.py") for each in sentences(file.read_text())]
    known = [each for source in sources for each in sentences(source)]
    known += [each.replace("{}", service, 1) for each in shared for service in services]
    page = (DOCUMENTS / "platforms" / f"{platform}-guide.md").read_text(encoding="utf-8")
    table = page.split("## Status messages")[1].split("\n## ")[0]
    rows = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]

    assert rows
    for message in (found for row in rows for found in re.findall(r"`([^`]*[a-z] [^`]*)`", row)):
        parts = re.compile("[^`]*".join(re.escape(part.strip()) for part in message.split("…")))
        assert any(parts.search(each) for each in known), message
