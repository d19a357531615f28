"""The whole OpenAPI document, tried by a program that knows nothing of the Host: nothing breaks, nothing is untold."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .harness import Host

SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Host]:
    host = Host(tmp_path).start()
    try:
        yield host
    finally:
        host.kill()


@pytest.mark.long
@pytest.mark.timeout(600)
def test_no_operation_breaks_or_answers_what_is_not_documented(scratch: Host) -> None:
    command = [str(SCHEMATHESIS), "run", f"{scratch.address}/api/v1/openapi.json", "--checks", CHECKS]
    key = ["--header", f"Authorization: Bearer {scratch.key()}"]
    amount = ["--max-examples", "10", "--phases", "examples,coverage,fuzzing"]

    finished = subprocess.run([*command, *key, *amount], cwd=scratch.data, capture_output=True, text=True, timeout=580)

    assert finished.returncode == 0, finished.stdout[-6000:]
    assert "Traceback" not in scratch.log()
