"""The schema and the reference page are those of the entities as they are now, and say what the entities do."""

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


def test_the_documents_are_those_of_the_present_contract(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "tools.protocol_documents", str(tmp_path)], cwd=ROOT, check=True, timeout=60)
    for name in ("schema.json", "reference.md"):
        made, kept = (folder / name for folder in (tmp_path, DOCUMENTS))
        is_current = made.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8")
        assert is_current, f"docs/protocol/{name} is not that of the present entities: run `make documents`"


def test_the_schema_defines_every_entity_and_nothing_else() -> None:
    assert set(DEFINITIONS) == set(ENTITIES) | set(UNIONS)


def test_every_reference_of_the_schema_leads_somewhere() -> None:
    refs = set(re.findall(r'"\$ref": "([^"]*)"', json.dumps(SCHEMA)))
    assert refs <= {f"#/$defs/{name}" for name in DEFINITIONS}
    assert len(refs) > 100


def test_the_schema_accepts_and_refuses_what_each_entity_does() -> None:
    for name in CONTRACT:
        assert CHECKER.accepts(name, golden(name)), name
        own = [case for case in cases(name) if case.place[1:] in ((), (0,))]  # what is deeper is another entity's own
        wrong = [case.says for case in own if CHECKER.accepts(name, case.data) == (case.expected is REFUSED)]
        assert wrong == [], name


def test_the_tables_of_the_schema_name_what_is_used_where() -> None:
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


def test_every_link_of_the_page_leads_somewhere() -> None:
    page = (DOCUMENTS / "reference.md").read_text(encoding="utf-8")
    headings = [line.lstrip("# ").lower().replace(" ", "-") for line in page.splitlines() if line.startswith("#")]
    assert len(headings) == len(set(headings)), "two headings have the same anchor"
    assert set(re.findall(r"\]\(#([^)]*)\)", page)) <= set(headings)


def test_the_page_tells_of_every_entity_and_every_field() -> None:
    page = (DOCUMENTS / "reference.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^#### (\w+)\n(.*?)(?=^#|\Z)", page, re.MULTILINE | re.DOTALL))
    assert set(told) == set(ENTITIES) | set(UNIONS)
    for name, entity in ENTITIES.items():
        assert re.findall(r"^\| `(\w+)` \|", told[name], re.MULTILINE) == list(entity.model_fields), name
