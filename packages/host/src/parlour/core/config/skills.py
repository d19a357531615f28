"""Repository of skills."""

from parlour.core.journal import Journal
from parlour.core.model.ids import SkillName
from parlour.core.model.ports import Clock
from parlour.core.model.skill import Skill
from parlour.core.store.tables import SKILL_ACTIVATIONS, SKILLS

from .cached_repository import CachedRepository, RowMapping, UnitNames

SKILL_ROWS = RowMapping[SkillName, Skill](
    SKILLS,
    UnitNames(add="skill.add", replace="skill.replace", remove="skill.remove"),
    item_id=lambda skill: skill.name,
    encode=lambda skill: {
        "definition": skill.encode(),
        "sha256": skill.sha256,
        "artifact_id": skill.artifact_id,
    },
    decode=lambda row: Skill.decode(row["definition"]),
    owned_tables=(SKILL_ACTIVATIONS,),
)


class SkillRepository(CachedRepository[SkillName, Skill]):
    """All installed skills."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        super().__init__(journal, clock, SKILL_ROWS)
