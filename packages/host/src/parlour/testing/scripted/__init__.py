"""Scripted providers that record their requests: models, tools, knowledge, skills, files, bots.

They implement the same ports as the real ones, so `CorePorts(providers=Providers(models=ScriptedModels("hello")))` is a
Host whose model says hello once.
"""

from .catalogues import ScriptedFiles, ScriptedKnowledge, ScriptedPlatforms, ScriptedSkills
from .models import Hang, Reply, Scripted, ScriptedModels
from .tools import ScriptedTools, Tool, ToolRequest

__all__ = [
    "Hang",
    "Reply",
    "Scripted",
    "ScriptedFiles",
    "ScriptedKnowledge",
    "ScriptedModels",
    "ScriptedPlatforms",
    "ScriptedSkills",
    "ScriptedTools",
    "Tool",
    "ToolRequest",
]
