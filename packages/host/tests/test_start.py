"""Tests that a start loads only the modules that it needs. `http/test_loading.py` tests the HTTP interface."""

import re
import subprocess
import sys
from pathlib import Path

import parlour
import parlour_sdk

STANDARD_DATACLASS = re.compile(r"^from dataclasses import .*\bdataclass\b", re.MULTILINE)


def test_slotted_classes_do_not_use_the_standard_dataclass() -> None:
    sources = [file for package in (parlour, parlour_sdk) for file in Path(package.__path__[0]).rglob("*.py")]
    assert len(sources) > 500
    texts = {file: file.read_text(encoding="utf-8") for file in sources if file.name != "values.py"}
    assert [str(file) for file, text in texts.items() if STANDARD_DATACLASS.search(text) and "slots=True" in text] == []


def test_the_help_of_a_command_does_not_load_pydantic() -> None:
    program = "import sys; from parlour.cli.main import main; sys.argv[1:] = ['serve', '--help']\n"
    program += "try:\n    main()\nfinally:\n    print('pydantic' in sys.modules)"
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert finished.returncode == 0, finished.stderr
    assert "--port" in finished.stdout
    assert finished.stdout.splitlines()[-1] == "False"


def test_a_host_outside_a_cluster_loads_nothing_of_it() -> None:
    program = "import sys, parlour.app.server, parlour.app.web.server, parlour.cli.serve\n"
    program += "print([name for name in sys.modules if 'app.cluster.' in name or 'owner_relay' in name])"
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert finished.stdout == "[]\n", finished.stderr
