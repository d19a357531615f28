"""The backends that a configuration allows, in the order in which they are tried."""

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from parlour.core.box.messages import BACKENDS, BackendName, BoxConfig

from .backend import Backend
from .backend_choice import BackendCandidate, ChosenBackend
from .bubblewrap_backend import BubblewrapBackend
from .inside import ShownPath, python_tools
from .mount_policy import MountPolicy


def make_backend(config: BoxConfig) -> ChosenBackend:
    """Returns the backend of a configuration, which is chosen when it is probed."""
    wheels = Path(config.wheels) if config.wheels else None
    if wheels is not None:
        with contextlib.suppress(OSError):  # wheels are then not kept, which a skill that needs them says
            wheels.mkdir(mode=0o755, parents=True, exist_ok=True)
    tools = python_tools(_find_uv(), wheels)
    makers: Mapping[BackendName, Callable[[], Backend]] = {
        "bubblewrap": lambda: _bubblewrap(config, tools),
        "podman": lambda: _containers("podman", config, tools),
        "docker": lambda: _containers("docker", config, tools),
        "nsjail": lambda: _nsjail(config, tools),
        "e2b": lambda: _e2b(config, wheels),
    }
    local = BACKENDS if config.e2b.api_key else tuple(name for name in BACKENDS if name != "e2b")
    names = local if config.backend == "auto" else (config.backend,)
    return ChosenBackend([BackendCandidate(name, makers[name]) for name in names if name in makers])


def _bubblewrap(config: BoxConfig, tools: list[ShownPath]) -> Backend:
    program = Path(config.bubblewrap) if config.bubblewrap else None
    hidden = tuple(Path(folder) for folder in config.hidden)
    return BubblewrapBackend(program, hidden, tools, [Path(root) for root in config.mount_roots])


def _containers(name: Literal["podman", "docker"], config: BoxConfig, tools: list[ShownPath]) -> Backend:
    from .containers.backend import ContainerBackend

    return ContainerBackend(name, config.image, Path(config.root), tools, _mount_policy(config))


def _nsjail(config: BoxConfig, tools: list[ShownPath]) -> Backend:
    from .nsjail_backend import NsjailBackend

    return NsjailBackend(tools, _mount_policy(config))


def _e2b(config: BoxConfig, wheels: Path | None) -> Backend:
    from .e2b_service.backend import E2bBackend

    return E2bBackend(config.e2b, Path(config.root), config.workspace_mb, wheels, _mount_policy(config))


def _mount_policy(config: BoxConfig) -> MountPolicy:
    return MountPolicy([Path(root) for root in config.mount_roots], [Path(folder) for folder in config.hidden])


def _find_uv() -> Path | None:
    """Returns the program uv, on PATH, beside this Python or where `make setup` puts it; None if it is not here."""
    beside = [Path(sys.executable).with_name("uv"), Path(sys.prefix).parent / ".tools" / "bin" / "uv"]
    found = [shutil.which("uv"), *(str(path) for path in beside if os.access(path, os.X_OK))]
    return next((Path(os.path.realpath(path)) for path in found if path), None)
