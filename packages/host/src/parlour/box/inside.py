"""The paths inside sandboxes, and the files of the Box's machine that all of them show there."""

import sys
from pathlib import Path
from typing import Final

from parlour_sdk.values import dataclass

AGENT: Final = Path(__file__).parent / "agent"
AGENT_INSIDE: Final = Path("/run/parlour-agent")
WORKSPACE_INSIDE: Final = Path("/workspace")
SKILLS_INSIDE: Final = WORKSPACE_INSIDE / ".skills"
SKILL_FOLDER_BYTES: Final = 1024 * 1024
UV_INSIDE: Final = Path("/run/parlour-uv")
WHEELS_INSIDE: Final = Path("/run/parlour-wheels")
MEBIBYTE: Final = 1024 * 1024
OPEN_FILES: Final = 1024
TEMPORARY_MB: Final = 256
SHARED_MEMORY_MB: Final = 64
PYTHON: Final = Path(sys.executable).resolve()
ENVIRONMENT: Final = {"HOME": str(WORKSPACE_INSIDE), "TMPDIR": "/tmp", "USER": "box", "LANG": "C.UTF-8"}


@dataclass(frozen=True, slots=True)
class ShownPath:
    """A file or folder of the machine that sandboxes show read-only."""

    source: Path
    target: Path


def python_tools(uv: Path | None, wheels: Path | None) -> list[ShownPath]:
    """Returns what installs Python packages inside: uv, and wheels that need no network."""
    shown = [ShownPath(uv, UV_INSIDE)] if uv is not None else []
    return [*shown, ShownPath(wheels, WHEELS_INSIDE)] if wheels is not None and wheels.is_dir() else shown


def resource_limits(memory_mb: int, processes: int) -> dict[str, int]:
    """Returns the limits of single processes that the agent sets where no control group limits all of them."""
    return {"RLIMIT_AS": memory_mb * MEBIBYTE, "RLIMIT_NPROC": processes}


def temporary_mb(memory_mb: int) -> int:
    """Returns the size of /tmp, which is in the memory of the sandbox."""
    return min(TEMPORARY_MB, memory_mb // 2)
