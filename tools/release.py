"""Writes everything of a release into one folder: `python -m tools.release [FOLDER] [SSH_KEY]`, by default `dist`.

The files are the same, byte for byte, whenever they are made from the same commit: times come from the commit, and the
list of components has no random number. `make release` builds the page first. With a key, the checksums are signed.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
UV = ROOT / ".tools" / "bin" / "uv"
PARLOUR = ROOT / ".venv" / "bin" / "parlour"
PAGE = ROOT / "packages" / "host" / "src" / "parlour" / "page"
PACKAGES = ("parlour-sdk", "parlour")
SIGNATURE_NAMESPACE = "parlour-release"
"""Keeps a signature of a release from being valid for anything else."""
LARGE_EXTRAS = ("chroma", "milvus", "qdrant", "seekdb", "ocr", "e2b")
"""Extras that only few Hosts need, and that are several times as large as all the rest."""
TESTING_PLUGINS = {"chaos-agent"}
"""Plugins that only tests of the Host use."""


def main(arguments: list[str]) -> int:
    target = Path(arguments[0] if arguments else "dist").absolute()
    if not (PAGE / "index.html").exists():
        print("the page is not built: run make web first", file=sys.stderr)
        return 1
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": _commit_time()}
    for package in PACKAGES:
        _run(UV, "build", "--quiet", "--wheel", "--package", package, "--out-dir", target, environment=environment)
    for plugin in sorted(path.parent for path in (ROOT / "plugins").glob("*/manifest.yaml")):
        if plugin.name not in TESTING_PLUGINS:
            _run(PARLOUR, "plugin", "build", plugin, "-o", target / f"{plugin.name}.zip", environment=environment)
    (target / "requirements.txt").write_text(_requirements(LARGE_EXTRAS), encoding="utf-8")
    (target / "requirements-full.txt").write_text(_requirements(()), encoding="utf-8")
    (target / "parlour.cdx.json").write_text(_components(), encoding="utf-8")
    (target / ".gitignore").unlink(missing_ok=True)  # uv writes one
    files = sorted(path for path in target.iterdir() if path.is_file())
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    (target / "SHA256SUMS").write_text(sums, encoding="utf-8")
    if len(arguments) > 1:
        sign(target / "SHA256SUMS", arguments[1])
    print(sums, end="")
    return 0


def sign(sums: Path, key: str) -> None:
    """Signs the checksums with an SSH key, into a file beside them. A key in an agent is named by its public half."""
    _run("ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", SIGNATURE_NAMESPACE, sums)


def _commit_time() -> str:
    """Returns the seconds of the last commit. Outside a clone it is the earliest time that a zip can store."""
    command = ["git", "log", "-1", "--format=%ct"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "315532800"


def _requirements(without: Sequence[str]) -> str:
    """Returns the versions and hashes of all packages that the Host and its extras need, without some of these."""
    command = ("export", "--quiet", "--frozen", "--package", "parlour", "--no-dev", "--all-extras", "--no-header")
    left_out = (word for extra in without for word in ("--no-extra", extra))
    return _run(UV, *command, *left_out, "--no-emit-workspace", "--format", "requirements.txt")


def _components() -> str:
    """Returns the software bill of materials of the Host with all extras, as CycloneDX, from the lock file."""
    command = ("export", "--quiet", "--frozen", "--format", "cyclonedx1.5", "--package", "parlour", "--no-dev")
    listed = json.loads(_run(UV, *command, "--all-extras"))
    del listed["serialNumber"], listed["metadata"]["timestamp"]
    return json.dumps(listed, indent=1, ensure_ascii=False) + "\n"


def _run(*command: Any, environment: dict[str, str] | None = None) -> str:
    finished = subprocess.run([str(word) for word in command], cwd=ROOT, env=environment, stdout=subprocess.PIPE)
    if finished.returncode:
        sys.exit(f"this failed: {' '.join(map(str, command))}")
    return finished.stdout.decode()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
