"""Tests that a plugin's process does not load the testing package, and that it needs no test framework."""

import subprocess
import sys


def loaded(code: str) -> set[str]:
    code = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_testing_package_does_not_load_pytest() -> None:
    assert not any(name.split(".")[0] in ("pytest", "_pytest") for name in loaded("import parlour_sdk.testing"))


def test_a_plugins_process_does_not_load_the_testing_package() -> None:
    code = "import parlour_sdk.worker, parlour_sdk.service, parlour_sdk.components, parlour_sdk.api"
    assert not any(name.startswith("parlour_sdk.testing") for name in loaded(code))
