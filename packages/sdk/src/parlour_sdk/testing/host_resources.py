"""The fake Host's resources: models, tools, knowledge, skills, files. A run is granted what its manifest asks for."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from parlour_sdk.protocol.rules.permissions import MODEL_OPERATIONS, RESOURCE_OPERATIONS, ResourceKind

from .gate import Handler
from .grants import Operations
from .served.knowledge import Files, Knowledge, Skills
from .served.models import Models
from .served.tools import Tools


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
        names: dict[ResourceKind, list[str]] = {
            "tools": [each.tool_name for each in self.tools.resources()],
            "knowledge_bases": [each.kb_id for each in self._knowledge.resources()],
            "skills": [each.skill_name for each in self._skills.resources()],
            "files": [each.file_id for each in self._files.resources()],
        }
        return {
            "models": {each.model_id: MODEL_OPERATIONS[each.type] for each in self.models.resources()},
            **{kind: dict.fromkeys(each, RESOURCE_OPERATIONS[kind]) for kind, each in names.items()},
        }
