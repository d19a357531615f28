"""Offers the installed skills to runs: lists them, and activates them in conversations."""

from collections.abc import Callable, Sequence
from typing import Final

from parlour.core.errors import CallRejected
from parlour.core.model.ids import SkillName
from parlour.core.model.providers import CallContext, ProviderFailed
from parlour_sdk.protocol.resources import SkillResource
from parlour_sdk.protocol.skills import ActiveSkill

from .activations import SkillActivations
from .service import SkillService

ROOT: Final = "/workspace/.skills"
MAX_LISTED_FILES: Final = 200


class SkillCatalog:
    """The skills that runs may use. There are none while the Box is not available."""

    def __init__(self, service: SkillService, activations: SkillActivations, is_ready: Callable[[], bool]) -> None:
        self._service = service
        self._activations = activations
        self._is_ready = is_ready

    def resources(self) -> Sequence[SkillResource]:
        skills = [each for each in self._service.repository.all() if each.enabled]
        if not skills or not self._is_ready():
            return ()
        return [SkillResource(skill_name=each.name, description=each.description) for each in skills]

    async def active(self, context: CallContext) -> frozenset[str]:
        """Returns the names of the skills that are active in the conversation."""
        return frozenset(await self._activations.active(context.conversation_id))

    async def activate(self, context: CallContext, skill_name: str, records: bool = True) -> ActiveSkill:
        """Returns what the skill says. It stays active in the conversation unless `records` is false."""
        try:
            skill = self._service.get(skill_name)
        except CallRejected as rejection:
            raise ProviderFailed("not_found", rejection.message) from rejection
        if not skill.enabled or not self._is_ready():
            raise ProviderFailed("not_found", f"the skill '{skill.name}' is not available now")
        if records:
            await self._activations.activate(context.conversation_id, SkillName(skill.name), context.run_id)
        folder = f"{ROOT}/{skill.name}"
        listed = [f"{folder}/{file.path}" for file in skill.files[:MAX_LISTED_FILES]]
        metadata = {"description": skill.description, "folder": folder, "version": skill.version}
        return ActiveSkill(skill_name=skill.name, instructions=skill.instructions, files=listed, metadata=metadata)
