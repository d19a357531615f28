"""Lists the granted skills by name and description, and activates them."""

from parlour_sdk.protocol.resources import SkillResource
from parlour_sdk.protocol.skills import ActivateSkill, ActiveSkill, ListSkills, SkillList

from .calls import Namespace


class SkillsAPI(Namespace):
    async def activate(self, name: str) -> ActiveSkill:
        return await self._calls.call("activate_skill", ActivateSkill, ActiveSkill, skill_name=name)

    async def list(self) -> list[SkillResource]:
        return (await self._calls.call("list_skills", ListSkills, SkillList)).skills
