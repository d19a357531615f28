"""Copies files between the machine of the Box and a sandbox of E2B."""

import asyncio
import json
from pathlib import Path
from typing import Any, Final

from ..inside import AGENT, AGENT_INSIDE, SKILLS_INSIDE, WHEELS_INSIDE, WORKSPACE_INSIDE
from .transfer import pack_folders, unpack

COPY_SECONDS: Final = 300.0
ROOT_USER: Final = "root"
PROGRAMS_ARCHIVE: Final = "/tmp/parlour-programs.tar"
FILES_ARCHIVE: Final = "/tmp/parlour-files.tar"
CHANGES_ARCHIVE: Final = "/tmp/parlour-changes.tar"
SHOWN_ARCHIVE: Final = "/tmp/parlour-shown.tar"
MANIFEST: Final = "/tmp/parlour-manifest.json"


class E2bTransfers:
    """Copies the files of a session to its sandbox, and those that have changed back."""

    def __init__(
        self, remote: Any, folder: Path, manifest: dict[str, str], workspace_mb: int, wheels: Path | None
    ) -> None:
        self._remote = remote
        self._folder = folder
        self._manifest = manifest
        self._workspace_mb = workspace_mb
        self._wheels = wheels
        self._copied_wheels: set[Path] = set()

    async def copy_in(self, content: bytes, skills: dict[str, Path], shown: bytes, read_only: bool) -> None:
        """Copies programs, the workspace, and files that the session shows."""
        files, run = self._remote.files, self._remote.commands.run
        folders = {str(AGENT_INSIDE): AGENT, **{str(SKILLS_INSIDE / name): path for name, path in skills.items()}}
        await files.write(PROGRAMS_ARCHIVE, await asyncio.to_thread(pack_folders, folders), user=ROOT_USER)
        await files.write(FILES_ARCHIVE, content)
        await files.write(MANIFEST, json.dumps(self._manifest), user=ROOT_USER)
        unpack_files = f"tar -C {WORKSPACE_INSIDE} -xf {FILES_ARCHIVE}; rm -f {FILES_ARCHIVE}"
        await run(
            f"mkdir -p {WORKSPACE_INSIDE} && chmod 1777 {WORKSPACE_INSIDE} && tar -C / -xf {PROGRAMS_ARCHIVE}",
            user=ROOT_USER,
        )
        await run(unpack_files)
        if shown:
            await files.write(SHOWN_ARCHIVE, shown, user=ROOT_USER)
            await run(f"tar -C / -xf {SHOWN_ARCHIVE}", user=ROOT_USER)
            await run(f"rm -f {SHOWN_ARCHIVE}", user=ROOT_USER)
        if read_only:
            await run(f"chmod 755 {WORKSPACE_INSIDE} && chown -R root {WORKSPACE_INSIDE}", user=ROOT_USER)

    async def copy_wheels(self, digest: str) -> None:
        """Copies the wheels of some requirements and those of the operator, as far as they are not there."""
        if self._wheels is None:
            return
        listed = await asyncio.to_thread(
            lambda root: [*root.glob("*.whl"), *root.glob(f"{digest}/*.whl")], self._wheels
        )
        for path in listed:
            if path in self._copied_wheels:
                continue
            target = WHEELS_INSIDE / path.relative_to(self._wheels)
            with path.open("rb") as content:
                await self._remote.files.write(str(target), content, user=ROOT_USER)
            self._copied_wheels.add(path)

    async def copy_back(self) -> None:
        """Replaces the files of the workspace by those of the sandbox."""
        limit = self._workspace_mb * 1024 * 1024
        command = f"python3 -I -S {AGENT_INSIDE}/collect.py {MANIFEST} {CHANGES_ARCHIVE} {limit}"
        collected = await self._remote.commands.run(command, timeout=COPY_SECONDS)
        archive = await self._remote.files.read(CHANGES_ARCHIVE, format="bytes")
        unchanged = [str(name) for name in json.loads(collected.stdout)]
        await asyncio.to_thread(unpack, self._folder, self._manifest, unchanged, bytes(archive), self._workspace_mb)


def _wheels_below(root: Path, digest: str) -> list[Path]:
    return [*root.glob("*.whl"), *root.glob(f"{digest}/*.whl")]
