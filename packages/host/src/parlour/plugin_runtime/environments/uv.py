"""Finds the uv program, builds its command line, and turns its failures into a reason."""

import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from .index_settings import OVERRIDDEN_VARIABLES

FORWARDED_VARIABLES = (
    "PATH",
    "HOME",
    "LANG",
    "TMPDIR",
    "NETRC",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "SSL_CLIENT_CERT",
    "XDG_CONFIG_HOME",
)
PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
MAX_REASON_CHARACTERS = 600


class UvMissing(Exception):
    """Raised when the uv program is not found."""

    def __init__(self) -> None:
        super().__init__(
            "plugins that require packages need uv, which is not here; install it (for instance with "
            f"'{sys.executable} -m pip install uv') or name it with the setting plugins.uv"
        )


def find_uv(setting: Path | None) -> Path:
    """Returns uv: from the setting, from PATH, beside this Python, or where `make setup` puts it, in this order."""
    if setting is not None:
        if os.access(setting, os.X_OK) and setting.is_file():
            return setting.absolute()
        raise UvMissing
    candidates = [Path(sys.executable).with_name("uv"), Path(sys.prefix).parent / ".tools" / "bin" / "uv"]
    on_path = shutil.which("uv")
    programs = [Path(on_path)] if on_path else [candidate for candidate in candidates if os.access(candidate, os.X_OK)]
    if not programs:
        raise UvMissing
    return programs[0].absolute()


def command(program: Path, arguments: Sequence[str]) -> list[str]:
    return [str(program), "--no-progress", "--color", "never", *arguments]


def environment(variables: Mapping[str, str], cache: Path) -> dict[str, str]:
    """Returns uv's variables. The operator chooses index and proxies; no secret of the Host is included.

    The cache is the installer's own. Files are copied from it, so that environments of plugins share none.
    """
    forwarded = {
        name: value
        for name, value in variables.items()
        if name in FORWARDED_VARIABLES or name.upper() in PROXY_VARIABLES
    }
    uv_variables = {
        name: value for name, value in variables.items() if name.startswith("UV_") and name not in OVERRIDDEN_VARIABLES
    }
    return (
        forwarded | uv_variables | {"UV_CACHE_DIR": str(cache), "UV_LINK_MODE": "copy", "UV_PYTHON_DOWNLOADS": "never"}
    )


def failure_reason(lines: tuple[str, ...]) -> str:
    """Returns uv's reason for a failure as one line.

    The cause says more than the error, and hints are left out, since they are for users of uv.
    """
    cleaned = [re.sub(r"[×╰─▶├│]+", " ", line).strip() for line in lines if not line.lstrip().startswith("hint:")]
    starts = [number for number, line in enumerate(cleaned) if line.startswith(("error:", "cause:", "Caused by:"))]
    reason = " ".join(cleaned[starts[-1] :] if starts else cleaned[-5:])
    return (
        " ".join(re.sub(r"^(error|cause|Caused by):", "", reason).split())[:MAX_REASON_CHARACTERS]
        or "uv gave no reason"
    )
