"""What a start costs: only what it needs is loaded. What it needs of the interface, `http/test_loading.py` tells."""

import re
import subprocess
import sys
from pathlib import Path

import parlour
import parlour_sdk

THEIRS = re.compile(r"^from dataclasses import .*\bdataclass\b", re.MULTILINE)


def test_slotted_classes_are_made_by_the_dataclass_that_costs_a_start_little() -> None:
    sources = [file for package in (parlour, parlour_sdk) for file in Path(package.__path__[0]).rglob("*.py")]
    assert len(sources) > 500
    texts = {file: file.read_text(encoding="utf-8") for file in sources if file.name != "values.py"}
    assert [str(file) for file, text in texts.items() if THEIRS.search(text) and "slots=True" in text] == []


def test_a_command_is_understood_before_anything_is_loaded_for_it() -> None:
    program = "import sys; from parlour.cli.main import main; sys.argv[1:] = ['serve', '--help']\n"
    program += "try:\n    main()\nfinally:\n    print('pydantic' in sys.modules)"
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert finished.returncode == 0, finished.stderr
    assert "--port" in finished.stdout
    assert finished.stdout.splitlines()[-1] == "False"
