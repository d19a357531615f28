"""Tests that the schema and the reference page are up to date and match the entities."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from .contract import CONTRACT, UNIONS
from .entities import ENTITIES, golden
from .matrix import REFUSED, cases
from .schema_check import Checker

ROOT = Path(__file__).parents[4]
DOCUMENTS = ROOT / "docs" / "protocol"
SCHEMA: dict[str, Any] = json.loads((DOCUMENTS / "schema.json").read_text(encoding="utf-8"))
DEFINITIONS = SCHEMA["$defs"]
CHECKER = Checker(DEFINITIONS)


def test_the_documents_are_up_to_date(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "tools.protocol_documents", str(tmp_path)], cwd=ROOT, check=True, timeout=60)
    for name in ("schema.json", "reference.md"):
        generated, committed = (folder / name for folder in (tmp_path, DOCUMENTS))
        is_current = generated.read_text(encoding="utf-8") == committed.read_text(encoding="utf-8")
        assert is_current, f"docs/protocol/{name} is outdated: run `make documents`"


def test_the_schema_defines_every_entity_and_nothing_else() -> None:
    assert set(DEFINITIONS) == set(ENTITIES) | set(UNIONS)


def test_every_reference_of_the_schema_resolves() -> None:
    refs = set(re.findall(r'"\$ref": "([^"]*)"', json.dumps(SCHEMA)))
    assert refs <= {f"#/$defs/{name}" for name in DEFINITIONS}
    assert len(refs) > 100


def test_the_schema_accepts_and_refuses_the_same_data_as_each_entity() -> None:
    for name in CONTRACT:
        assert CHECKER.accepts(name, golden(name)), name
        own = [case for case in cases(name) if case.place[1:] in ((), (0,))]  # deeper places belong to other entities
        wrong = [case.says for case in own if CHECKER.accepts(name, case.data) == (case.expected is REFUSED)]
        assert wrong == [], name


def test_the_tables_of_the_schema_name_the_entities_of_actions_results_and_events() -> None:
    tables = SCHEMA["x-parlour"]
    assert tables["towards_plugin"]["run_agent"] == {
        "request": {"$ref": "#/$defs/AgentRunRequest"},
        "answer": {"$ref": "#/$defs/AgentRunResult"},
        "streams": True,
    }
    assert tables["towards_host"]["state_get"] == {
        "where": "run",
        "request": {"$ref": "#/$defs/StateGet"},
        "answer": {"$ref": "#/$defs/StateValue"},
        "streams": False,
    }
    assert tables["results"]["run.failed"] == {"$ref": "#/$defs/RunFailed"}
    assert tables["events"]["friend.added"] == {"$ref": "#/$defs/FriendAdded"}


def test_every_link_of_the_page_resolves() -> None:
    page = (DOCUMENTS / "reference.md").read_text(encoding="utf-8")
    headings = [line.lstrip("# ").lower().replace(" ", "-") for line in page.splitlines() if line.startswith("#")]
    assert len(headings) == len(set(headings)), "two headings have the same anchor"
    assert set(re.findall(r"\]\(#([^)]*)\)", page)) <= set(headings)


def test_the_page_describes_every_entity_and_every_field() -> None:
    page = (DOCUMENTS / "reference.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^#### (\w+)\n(.*?)(?=^#|\Z)", page, re.MULTILINE | re.DOTALL))
    assert set(sections) == set(ENTITIES) | set(UNIONS)
    for name, entity in ENTITIES.items():
        assert re.findall(r"^\| `(\w+)` \|", sections[name], re.MULTILINE) == list(entity.model_fields), name
