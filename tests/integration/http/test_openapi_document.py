"""Tests the whole OpenAPI document with a program that knows nothing of the Host: no server error,
no undocumented answer.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.harness import Host

SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Host]:
    host = Host(tmp_path).start()
    try:
        yield host
    finally:
        host.kill()


def run_schemathesis(host: Host, *amount: str) -> subprocess.CompletedProcess[str]:
    command = [str(SCHEMATHESIS), "run", f"{host.address}/api/v1/openapi.json", "--checks", CHECKS]
    options = ["--header", f"Authorization: Bearer {host.key()}", *amount]
    return subprocess.run([*command, *options], cwd=host.data, capture_output=True, text=True, timeout=880)


@pytest.mark.timeout(300)
def test_no_operation_fails_or_gives_an_undocumented_answer(scratch: Host) -> None:
    """Calls each operation once, with the same input in each test run."""
    finished = run_schemathesis(scratch, "--max-examples", "1", "--phases", "fuzzing", "--generation-deterministic")

    assert finished.returncode == 0, finished.stdout[-6000:]
    assert "Traceback" not in scratch.log()


@pytest.mark.long
@pytest.mark.timeout(900)
def test_no_operation_fails_on_any_generated_request(scratch: Host) -> None:
    finished = run_schemathesis(
        scratch, "--max-examples", "10", "--phases", "examples,coverage,fuzzing", "--generation-database", "none"
    )

    assert finished.returncode == 0, finished.stdout[-6000:]
    assert "Traceback" not in scratch.log()
