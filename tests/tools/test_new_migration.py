"""The skeleton of a migration is complete and continues the chain of revisions."""

import ast
import shutil
from pathlib import Path

import pytest

from tools.new_migration import STORES, create_migration


@pytest.fixture
def stores(tmp_path: Path) -> Path:
    (tmp_path / "migrations" / "versions").mkdir(parents=True)
    shutil.copy(STORES / "migrate.py", tmp_path)
    return tmp_path


def assigned(path: Path, name: str) -> object:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
            return ast.literal_eval(node.value)
    raise AssertionError(f"{path} assigns no {name}")


def test_a_new_migration_continues_the_chain_and_is_registered(stores: Path) -> None:
    before = assigned(stores / "migrate.py", "KNOWN_REVISIONS")
    assert isinstance(before, tuple)

    first = create_migration("expand", "Add a table of jobs.", stores)
    second = create_migration("contract", "Fill it", stores)

    assert first.name == f"{int(before[-1]) + 1:04}_add_a_table_of_jobs.py"
    assert ast.get_docstring(ast.parse(first.read_text())) == "Add a table of jobs."
    assert (assigned(first, "phase"), assigned(second, "phase")) == ("expand", "contract")
    assert assigned(first, "down_revision") == before[-1]
    assert assigned(second, "down_revision") == assigned(first, "revision")
    assert assigned(stores / "migrate.py", "KNOWN_REVISIONS") == (
        *before,
        assigned(first, "revision"),
        assigned(second, "revision"),
    )


def test_a_migration_without_a_sentence_is_refused(stores: Path) -> None:
    with pytest.raises(ValueError, match="say in a sentence what the migration does"):
        create_migration("expand", "...", stores)
    assert list((stores / "migrations" / "versions").iterdir()) == []


@pytest.mark.parametrize("phase", ["", "extend"])
def test_a_migration_without_a_known_phase_is_refused(stores: Path, phase: str) -> None:
    with pytest.raises(ValueError, match=r"name the phase: PHASE=expand if .* PHASE=contract otherwise"):
        create_migration(phase, "Add a table", stores)
    assert list((stores / "migrations" / "versions").iterdir()) == []
