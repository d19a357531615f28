"""The command that makes the environment for the Python packages of a skill, inside its sandbox."""

from typing import Final

from parlour.core.box.skill_use import SKILL_ROOT

REQUIREMENTS: Final = "requirements.txt"
WHEELS: Final = "/run/parlour-wheels"
DOWNLOADED: Final = "/workspace/wheels"
TOOL: Final = "/tmp/parlour-pip"


def environment_command(skill_name: str, folder: str, has_network: bool, wheels: str) -> str:
    """Returns the command that makes the Python environment of a skill, unless it is there.

    `wheels` is the name of the folder with the wheels that were downloaded for it.
    """
    skill = f"{SKILL_ROOT}/{skill_name}"
    offline = "" if has_network else "--no-index "
    install = f"{offline}$links -r {skill}/{REQUIREMENTS}"
    return "\n".join(
        (
            f"[ -e {folder}/.ready ] && exit 0",
            "set -e",
            f"rm -rf {folder}; mkdir -p {folder}",
            "links=",
            f"for each in {WHEELS} {WHEELS}/{wheels} {skill}/wheels; do",
            '  if [ -d "$each" ]; then links="$links --find-links $each"; fi',
            "done",
            "if [ -x /run/parlour-uv ]; then",
            "  export UV_LINK_MODE=copy UV_NO_CONFIG=1 UV_PYTHON_DOWNLOADS=never",
            f'  /run/parlour-uv venv --quiet --no-cache --python "$(command -v python3)" {folder}',
            f"  /run/parlour-uv pip install --quiet --no-cache --python {folder}/bin/python {install}",
            "else",
            f"  python3 -m venv {folder}",
            f"  {folder}/bin/python -m pip install --quiet --no-cache-dir --disable-pip-version-check {install}",
            "fi",
            f"touch {folder}/.ready",
        )
    )


def download_command(skill_name: str) -> str:
    """Returns the command that downloads the wheels of a skill. Sources are refused, since building them runs code."""
    options = "--quiet --only-binary=:all: --no-cache-dir --disable-pip-version-check --retries 1"
    return "\n".join(
        (
            "set -e",
            f"rm -rf {DOWNLOADED}; mkdir -p {DOWNLOADED}",
            "python=python3",
            "if ! python3 -m pip --version > /dev/null 2>&1; then",
            f"  python={TOOL}/bin/python",
            "  if [ -x /run/parlour-uv ]; then",
            f"    UV_PYTHON_DOWNLOADS=never /run/parlour-uv venv --quiet --seed --no-cache {TOOL}",
            f"  else python3 -m venv {TOOL}; fi",
            "fi",
            f"$python -m pip download {options} --dest {DOWNLOADED} -r {SKILL_ROOT}/{skill_name}/{REQUIREMENTS}",
        )
    )
