"""Skills: instructions with files that an agent takes up when they fit."""

from typing import Any

from .base import Tolerant
from .calls import RunCall
from .resources import SkillResource


class ListSkills(RunCall):
    """Asks for the skills that were granted."""


class SkillList(Tolerant):
    """The skills that were granted."""

    skills: list[SkillResource] = []


class ActivateSkill(RunCall):
    """Takes up a skill."""

    skill_name: str


class ActiveSkill(Tolerant):
    """A skill that was taken up: what it says, and which files it has."""

    skill_name: str
    instructions: str
    files: list[str] = []
    metadata: dict[str, Any] = {}
