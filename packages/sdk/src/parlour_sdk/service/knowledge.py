"""Serves the requests to a plugin's knowledge engine and parsers."""

import base64
import logging
from pathlib import PurePath
from typing import Any

from parlour_sdk.api import PluginAPI
from parlour_sdk.components.knowledge_engine import KnowledgeContext, KnowledgeEngine
from parlour_sdk.components.parser import Parser
from parlour_sdk.plugin.loaded_plugin import LoadedPlugin
from parlour_sdk.protocol.component_specs import KnowledgeEngineSpec, ParserSpec
from parlour_sdk.protocol.knowledge import (
    IngestOutcome,
    KnowledgeDelete,
    KnowledgeFile,
    KnowledgeIngest,
    KnowledgeResult,
    KnowledgeRetrieve,
    ParsedFile,
    ParseFile,
)
from parlour_sdk.wire import WireError

from .requests import COMPONENT_FAILURES, parse_request, to_json_dict, to_wire_error

logger = logging.getLogger("parlour.worker")


class KnowledgeService:
    def __init__(self, plugin: LoadedPlugin, api: PluginAPI) -> None:
        self._plugin = plugin
        self._api = api

    async def ingest(self, data: Any) -> dict[str, Any]:
        engine = self._engine()
        request = parse_request(KnowledgeIngest, data, "kb_ingest")
        try:
            file = await self._with_content(request.file, self._engine_takes_text())
            result = await engine.ingest(request.kb_id, file, KnowledgeContext(self._api, request.config))
            return to_json_dict(IngestOutcome(chunks=result) if isinstance(result, int) else result)
        except COMPONENT_FAILURES as error:
            reason = to_wire_error(f"the knowledge engine, with '{request.file.name}',", error).message
            return to_json_dict(IngestOutcome(status="failed", error=reason))

    async def retrieve(self, data: Any) -> dict[str, Any]:
        engine = self._engine()
        request = parse_request(KnowledgeRetrieve, data, "kb_retrieve")
        context = KnowledgeContext(self._api, request.config, request.settings)
        try:
            chunks = await engine.retrieve(request.kb_id, request.query, request.top_k, request.filters, context)
            return to_json_dict(KnowledgeResult(chunks=chunks[: request.top_k]))
        except COMPONENT_FAILURES as error:
            raise to_wire_error("the knowledge engine", error) from error

    async def delete(self, data: Any) -> dict[str, Any]:
        engine = self._engine()
        request = parse_request(KnowledgeDelete, data, "kb_delete")
        try:
            await engine.delete(request.kb_id, request.file_id, KnowledgeContext(self._api, request.config))
        except COMPONENT_FAILURES as error:
            raise to_wire_error("the knowledge engine", error) from error
        return {}

    async def parse_file(self, data: Any) -> dict[str, Any]:
        request = parse_request(ParseFile, data, "parse_file")
        parser = self._parser(request.file, request.parser)
        try:
            parsed = await parser.parse(await self._with_content(request.file, False), request.config)
            return to_json_dict(ParsedFile(text=parsed) if isinstance(parsed, str) else parsed)
        except COMPONENT_FAILURES as error:
            raise to_wire_error(f"the parser, with '{request.file.name}',", error) from error

    async def _with_content(self, file: KnowledgeFile, is_text: bool) -> KnowledgeFile:
        """Reads a file that was too large for the request."""
        if file.file_key is None or file.text is not None or file.content_base64 is not None:
            return file
        content = await self._api.knowledge_files.read(file.file_key)
        field = {"text": content.decode()} if is_text else {"content_base64": base64.b64encode(content).decode()}
        return file.model_copy(update=field)

    def _engine_takes_text(self) -> bool:
        [name] = list(self._plugin.knowledge_engines)[:1]
        return KnowledgeEngineSpec.model_validate(self._plugin.spec("KnowledgeEngine", name)).files == "text"

    def _engine(self) -> KnowledgeEngine:
        for engine in self._plugin.knowledge_engines.values():
            return engine
        raise WireError("not_supported", "this plugin has no knowledge engine")

    def _parser(self, file: KnowledgeFile, wanted: str | None) -> Parser:
        if wanted is not None and wanted in self._plugin.parsers:
            return self._plugin.parsers[wanted]
        extension = PurePath(file.name).suffix.lower()
        for name, parser in self._plugin.parsers.items():
            spec = ParserSpec.model_validate(self._plugin.spec("Parser", name))
            if extension in map(str.lower, spec.extensions) or file.mime_type in spec.mime_types:
                return parser
        raise WireError("not_supported", f"this plugin has no parser for '{file.name}' ({file.mime_type})")
