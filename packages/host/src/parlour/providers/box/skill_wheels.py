"""Fills the wheels of skills without a hand: downloads them in a sandbox with a network for sandboxes that have none.

Only skills that a person has installed are served, since the requirements of others could carry data out.
"""

import asyncio
import base64
import os
import re
import time
from typing import Any, Final
from weakref import WeakValueDictionary

from parlour.core.box.messages import WHEEL_NAME, SessionSpec
from parlour.core.box.profiles import PROFILES
from parlour.core.model.providers import ProviderFailed

from .files import PIECE_BYTES, BoxFiles
from .results import decoded_output, shorten
from .service import BoxService
from .skill_environment import DOWNLOADED, download_command
from .skills import BoxSkills

PROFILE: Final = "network_basic"
DOWNLOAD_SECONDS: Final = 200.0
MARGIN_SECONDS: Final = 35.0
CALL_SECONDS: Final = 60.0
MAX_WHEEL_BYTES: Final = 256 * 1024 * 1024
PAUSE_SECONDS: Final = 300.0
"""Seconds after a failure during which the download is not tried again."""
MAX_FAILURES: Final = 100
FORWARDED: Final = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
"""Variables of the Host that say where packages come from."""


class SkillWheels:
    """Downloads the wheels of skills."""

    def __init__(self, service: BoxService, files: BoxFiles, skills: BoxSkills, is_on: bool) -> None:
        self._service = service
        self._files = files
        self._skills = skills
        self._is_on = is_on
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._failures: dict[str, tuple[float, str]] = {}
        """Until when a download is not tried again, and why it failed, by the digest of the requirements."""

    async def fill(self, skill_name: str) -> str:
        """Makes sure that the wheels of a skill are here. Returns why they are not; empty if they are."""
        digest = self._skills.requirements_digest(skill_name)
        if not self._is_on:
            return "the setting box.download_wheels is off"
        if not self._skills.is_by_person(skill_name):
            return "packages are downloaded only for skills that a person has installed"
        async with self._locks.setdefault(digest, asyncio.Lock()):
            answer = await self._service.call("box_wheels_check", {"digest": digest}, CALL_SECONDS)
            if answer["present"]:
                return ""
            until, reason = self._failures.pop(digest, (0.0, ""))
            if time.monotonic() >= until:
                until, reason = time.monotonic() + PAUSE_SECONDS, await self._download(skill_name, digest)
            if reason and len(self._failures) < MAX_FAILURES:
                self._failures[digest] = until, reason
            return reason

    async def _download(self, skill_name: str, digest: str) -> str:
        session = self._session(skill_name, digest)
        request: dict[str, Any] = {
            "session": session.model_dump(),
            "command": download_command(skill_name),
            "timeout_seconds": DOWNLOAD_SECONDS,
            "environment": {name: os.environ[name] for name in FORWARDED if name in os.environ},
        }
        try:
            result = await self._service.call("box_exec", request, DOWNLOAD_SECONDS + MARGIN_SECONDS)
            if result["status"] == "timed_out":
                return f"the download did not end within {DOWNLOAD_SECONDS:g} s"
            if result["status"] != "completed" or result["code"] != 0:
                return shorten((decoded_output(result["stdout"]) + decoded_output(result["stderr"])).strip())
            await self._keep(session, digest)
        finally:
            names = {"session_id": session.session_id, "workspace_id": session.workspace_id}
            await asyncio.shield(self._service.call("box_workspace_delete", names, CALL_SECONDS))
        return ""

    async def _keep(self, session: SessionSpec, digest: str) -> None:
        listing = await self._files.request(session, "list", path=DOWNLOADED)
        for entry in listing["items"]:
            name = str(entry["name"])
            if entry["kind"] != "file" or not re.fullmatch(WHEEL_NAME, name):
                continue
            if entry["size"] > MAX_WHEEL_BYTES:
                raise ProviderFailed("skill_invalid", f"{name} is larger than {MAX_WHEEL_BYTES // 2**20} MiB")
            offset = 0
            while offset < entry["size"]:
                piece, _ = await self._files.read(session, f"{DOWNLOADED}/{name}", offset)
                if not piece:
                    break
                data = base64.b64encode(piece[:PIECE_BYTES]).decode()
                part = {"digest": digest, "name": name, "offset": offset, "data": data}
                await self._service.call("box_wheel_put", part, CALL_SECONDS)
                offset += len(piece)
        complete = {"digest": digest, "needed": self._skills.all_requirements()}
        await self._service.call("box_wheels_complete", complete, CALL_SECONDS)

    def _session(self, skill_name: str, digest: str) -> SessionSpec:
        limits = PROFILES[PROFILE]
        return SessionSpec(
            session_id=f"wheels-{digest[:24]}",
            title=f"Packages of the skill {skill_name}",
            cpus=limits.cpus,
            memory_mb=limits.memory_mb,
            processes=limits.processes,
            network=True,
            skills=self._skills.digests([skill_name]),
        )
