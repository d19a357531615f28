"""Lists the licence of each package that the Host needs: `python -m tools.dependency_report [--check]`.

The page has the packages of the lock file whose metadata is installed here, and those in the built page of the Host if
its tools are set up. With `--check` nothing is written: it only fails if a licence is not among the permitted ones.
"""

import contextlib
import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
WEB = ROOT / "web"
UV = ROOT / ".tools" / "bin" / "uv"
PAGE = ROOT / "docs" / "reference" / "dependencies.md"
PERMITTED = {
    "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSD", "CC0-1.0", "CNRI-Python", "ISC", "MIT", "MIT-0",
    "MIT-CMU", "MPL-2.0", "PSF-2.0", "Unlicense", "Zlib",
}  # fmt: skip
SPDX = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""Names in older metadata, and the identifiers of the same licences."""
INTRODUCTION = """\
# Licences of dependencies

Parlour itself is under the [licence in its repository](../../LICENSE). These are the packages that it is installed
with, in the version of the lock file, and the licence that their metadata names. `make check` fails if a licence is not
permissive or weak copyleft (MPL), and looks up known vulnerabilities of the same versions if it reaches the network.
"""
EXTRAS = """
## Packages of extras

An extra is installed only if you ask for it, by `pip install 'parlour[NAME]'`.
"""
ABSENT = """
## Not listed with a licence

These packages belong to extras or to other systems, and were not installed where this page was made. Read their
licences before you pass on an image with such an extra: those of CUDA, which `torch` installs, are not open source.
"""


BUNDLED = """
## Packages in the page

The build of the page contains parts of these.
"""


class Package(NamedTuple):
    name: str
    version: str
    licence: str
    """As an SPDX expression where the metadata has one; empty if it names none."""


def main(arguments: list[str]) -> int:
    core_names = _locked()
    extra_names = [name for name in _locked("--all-extras") if name not in core_names]
    core, extras, web = python_packages(core_names), python_packages(extra_names), web_packages(WEB)
    refused = [each for each in (*core, *extras, *web) if not is_permitted(each.licence)]
    if refused:
        print("the licences of these packages are not permitted:", file=sys.stderr)
        print(*(f"  {each.name}: {each.licence or 'none is named'}" for each in refused), sep="\n", file=sys.stderr)
        return 1
    if "--check" not in arguments:
        installed = {each.name for each in extras}
        absent = ", ".join(f"`{name}`" for name in extra_names if name not in installed)
        bundled = _table(web) if web else PAGE.read_text(encoding="utf-8").split(BUNDLED)[1]
        page = INTRODUCTION + _table(core) + EXTRAS + _table(extras) + f"{ABSENT}\n{absent}\n" + BUNDLED + bundled
        PAGE.write_text(page, encoding="utf-8")
    return 0


def python_packages(names: list[str]) -> list[Package]:
    """Returns those of the packages that are installed here."""
    found = []
    for name in names:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found.append(Package(name, metadata.version(name), _python_licence(name)))
    return found


def web_packages(folder: Path) -> list[Package]:
    """Returns the packages that the page may contain; none if its packages are not installed here."""
    pending = [folder / "package.json"] if (folder / "node_modules").exists() else []
    found: dict[Path, Package] = {}
    while pending:
        file = pending.pop()
        described = json.loads(file.read_text(encoding="utf-8"))
        needed = (_find_web_package(file.parent, name) for name in described.get("dependencies", {}))
        pending += [each for each in needed if each is not None and each not in found]
        if file.parent != folder:
            found[file] = Package(described["name"], described["version"], str(described.get("license", "")))
    return sorted(set(found.values()))


def is_permitted(licence: str) -> bool:
    """Returns whether all parts of the expression, or of one of its alternatives, are permitted."""
    alternatives = licence.replace("(", "").replace(")", "").split(" OR ")
    return any(all(part in PERMITTED for part in each.split(" AND ")) for each in alternatives)


def _python_licence(name: str) -> str:
    described = metadata.metadata(name)
    if expression := described.get("License-Expression"):
        return str(expression)
    lines = [line for line in described.get_all("Classifier") or [] if line.startswith("License")]
    named = [line.split(" :: ")[-1] for line in lines if not line.endswith("OSI Approved")]
    return " AND ".join(SPDX.get(each, each) for each in named or [(described.get("License") or "").split("\n")[0]])


def _find_web_package(folder: Path, name: str) -> Path | None:
    """Finds a package as Node does: in the nearest folder `node_modules` above."""
    for parent in (folder, *folder.parents):
        if (file := parent / "node_modules" / name / "package.json").exists():
            return file.resolve()
    return None


def _locked(*options: str) -> list[str]:
    """Returns the names of the packages in the lock file that the Host needs."""
    command = [UV, "export", "--quiet", "--frozen", "--package", "parlour", "--no-dev", "--no-hashes", "--no-header"]
    listed = subprocess.run([*command, "--no-emit-workspace", *options], cwd=ROOT, capture_output=True, check=True)
    return re.findall(r"^([\w.-]+)", listed.stdout.decode(), re.MULTILINE)


def _table(packages: list[Package]) -> str:
    rows = [f"| {each.name} | {each.version} | {each.licence} |" for each in packages]
    return "\n".join(["", "| package | version | licence |", "| --- | --- | --- |", *rows, ""])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
