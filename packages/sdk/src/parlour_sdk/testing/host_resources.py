"""The fake Host's resources: models, tools, knowledge, skills, files. A run is granted what its manifest asks for."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from .gate import Handler
from .grants import MODEL_OPERATIONS, Operations
from .served.knowledge import Files, Knowledge, Skills
from .served.models import Models
from .served.tools import Tools

TOOL_OPERATIONS = frozenset(("detail", "call"))
KNOWLEDGE_OPERATIONS = frozenset(("list", "retrieve"))
SKILL_OPERATIONS = frozenset(("list", "activate", "author"))
FILE_OPERATIONS = frozenset(("config", "knowledge"))


class HostResources:
    def __init__(
        self,
        models: Mapping[str, Any],
        tools: Mapping[str, Any],
        knowledge: Mapping[str, Any],
        skills: Mapping[str, Any],
        files: Mapping[str, Any],
    ) -> None:
        self.models = Models(models)
        self.tools = Tools(tools)
        self._knowledge = Knowledge(knowledge)
        self._skills = Skills(skills)
        self._files = Files(files)

    def handlers(self) -> dict[str, Handler]:
        served = (self.models, self.tools, self._knowledge, self._skills, self._files)
        return {name: handler for each in served for name, handler in each.handlers().items()}

    def resources(self) -> dict[str, Sequence[BaseModel]]:
        return {
            "models": self.models.resources(),
            "tools": self.tools.resources(),
            "knowledge_bases": self._knowledge.resources(),
            "skills": self._skills.resources(),
            "files": self._files.resources(),
        }

    def operations(self) -> dict[str, Operations]:
        return {
            "models": {each.model_id: MODEL_OPERATIONS[each.type] for each in self.models.resources()},
            "tools": {each.tool_name: TOOL_OPERATIONS for each in self.tools.resources()},
            "knowledge_bases": {each.kb_id: KNOWLEDGE_OPERATIONS for each in self._knowledge.resources()},
            "skills": {each.skill_name: SKILL_OPERATIONS for each in self._skills.resources()},
            "files": {each.file_id: FILE_OPERATIONS for each in self._files.resources()},
        }
