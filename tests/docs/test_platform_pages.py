"""The pages about platforms say what manifests and evidence say, and leave nothing empty."""

from pathlib import Path

from tools.platform_documents.cells import UNPROVEN
from tools.platform_documents.files import adapters, pages

DOCUMENTS = Path(__file__).parents[2] / "docs"


def test_the_pages_are_what_manifests_and_evidence_make_of_them() -> None:
    for name, text in pages(DOCUMENTS).items():
        assert (DOCUMENTS / name).read_text(encoding="utf-8") == text, f"{name} is old; make documents"


def test_nothing_is_declared_without_evidence_or_missing_without_a_reason() -> None:
    for adapter in adapters(DOCUMENTS):
        for cell in adapter.cells():
            assert cell.level != UNPROVEN, (adapter.manifest.name, cell)
            assert cell.level != "not-supported" or cell.reason, (adapter.manifest.name, cell)


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
