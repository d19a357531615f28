"""The skills of sessions: which ones a session shows, sending their packages, and environments of Python packages."""

import base64
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from parlour.core.config.skills import SkillRepository
from parlour.core.model.ids import ConversationId, SkillName
from parlour.core.model.providers import ProviderFailed
from parlour.core.skills.activations import SkillActivations
from parlour.core.skills.packages import SkillPackages

from .connection import BoxConnection
from .skill_environment import REQUIREMENTS

PIECE_BYTES: Final = 512 * 1024
SEND_SECONDS: Final = 60.0
DIGEST_CHARACTERS: Final = 12


class BoxSkills:
    """Reads skills for sessions."""

    def __init__(
        self,
        repository: SkillRepository,
        packages: SkillPackages,
        activations: SkillActivations,
        connection: BoxConnection,
    ) -> None:
        self._repository = repository
        self._packages = packages
        self._activations = activations
        self._connection = connection

    async def active(self, conversation_id: ConversationId) -> Collection[str]:
        """Returns the names of the skills that are active in a conversation."""
        return await self._activations.active(conversation_id)

    def digests(self, names: Iterable[str]) -> dict[str, str]:
        """Returns the digests of the named skills, as far as they are installed and enabled."""
        found = (self._repository.get(SkillName(name)) for name in sorted(names))
        return {skill.name: skill.sha256 for skill in found if skill is not None and skill.enabled}

    def environment_folder(self, name: str) -> str:
        """Returns the folder for the Python packages that a skill requires; empty if it requires none."""
        digest = self.requirements_digest(name)
        return f"/workspace/.venvs/{name}-{digest[:DIGEST_CHARACTERS]}" if digest else ""

    def requirements_digest(self, name: str) -> str:
        """Returns the digest of the Python packages that a skill requires; empty if it requires none."""
        skill = self._repository.get(SkillName(name))
        found = (file.sha256 for file in skill.files if file.path == REQUIREMENTS) if skill else iter(())
        return next(found, "")

    def all_requirements(self) -> list[str]:
        """Returns the digests of what all skills require."""
        return sorted({self.requirements_digest(skill.name) for skill in self._repository.all()} - {""})

    def is_by_person(self, name: str) -> bool:
        """Returns whether a person has installed a skill, rather than an agent."""
        skill = self._repository.get(SkillName(name))
        return skill is not None and not skill.installed_by.startswith("agent:")

    async def send(self, digests: Mapping[str, str]) -> None:
        """Sends the packages that the Box does not have. Raises ProviderFailed."""
        request = {"digests": sorted(set(digests.values()))}
        answer = await self._connection.call("box_skill_check", request, SEND_SECONDS)
        missing = set(answer["missing"])
        for name, digest in digests.items():
            skill = self._repository.get(SkillName(name))
            if digest not in missing:
                continue
            if skill is None or skill.sha256 != digest:
                raise ProviderFailed("session_stale", f"the skill '{name}' has just changed; try again", True)
            await self._send(digest, await self._packages.read_archive(skill))
            missing.discard(digest)

    async def _send(self, digest: str, content: bytes) -> None:
        for start in range(0, len(content), PIECE_BYTES):
            end = start + PIECE_BYTES
            data = base64.b64encode(content[start:end]).decode()
            piece: dict[str, Any] = {"sha256": digest, "offset": start, "data": data, "last": end >= len(content)}
            await self._connection.call("box_skill_put", piece, SEND_SECONDS)
