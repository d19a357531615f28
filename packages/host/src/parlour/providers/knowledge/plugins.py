"""Calls the knowledge engines and parsers of plugins, with time limits and one kind of error."""

import asyncio
import base64
import mimetypes
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path, PurePath
from typing import Any

from pydantic import BaseModel, ValidationError

from parlour.core.config import secret_fields
from parlour.core.knowledge import chunking
from parlour.core.knowledge.handouts import FileHandouts, Handout
from parlour.core.knowledge.ports import FileParser, KnowledgeFailed, ParsedPart
from parlour.core.model.ids import KnowledgeBaseId, KnowledgeFileId, PluginId
from parlour.core.model.knowledge import BaseFile, ChunkSettings, KnowledgeBase
from parlour.core.model.ports import PluginCaller, PluginCallFailed, PluginDisconnected, PluginUnavailable
from parlour.core.plugin_hooks.components import ComponentRegistry, RegisteredComponent
from parlour.core.secrets import SecretBox
from parlour_sdk.protocol.component_specs import KnowledgeEngineSpec, ParserSpec
from parlour_sdk.protocol.knowledge import (
    IngestOutcome,
    KnowledgeChunk,
    KnowledgeDelete,
    KnowledgeFile,
    KnowledgeIngest,
    KnowledgeResult,
    KnowledgeRetrieve,
    ParsedFile,
    ParseFile,
)

INGEST_SECONDS = 600.0
RETRIEVE_SECONDS = 10.0
DELETE_SECONDS = 60.0
PARSE_SECONDS = 300.0
INLINE_BYTES = 512 * 1024
"""Bytes of a file that are sent with the call; a larger one is read in pieces by its key."""
HEAD_BYTES = 4096
"""Bytes of a file by which its type is found."""
UNKNOWN_TYPE = "application/octet-stream"
Parser = RegisteredComponent[ParserSpec]
Engine = RegisteredComponent[KnowledgeEngineSpec]


class PluginEngines:
    """The engines of plugins. Implements the port `KnowledgeEngines`."""

    def __init__(
        self, components: ComponentRegistry, plugins: PluginCaller, secrets: SecretBox, handouts: FileHandouts
    ) -> None:
        self._components = components
        self._plugins = plugins
        self._secrets = secrets
        self._handouts = handouts

    def takes(self, engine: str) -> str:
        return find_engine(self._components, engine).spec.files

    async def ingest(self, base: KnowledgeBase, file: BaseFile, content: Path) -> int:
        plugin_id = PluginId(base.engine)
        takes = self.takes(base.engine)
        if takes == "none":
            raise KnowledgeFailed(
                "not_supported", f"the engine {base.engine} takes no files; add them in its own system"
            )
        with ExitStack() as lent:
            handout = Handout(plugin_id, content, base, file, content.with_name("content"))
            given = await _describe(file, content, takes == "text")
            described = given.model_copy(update={"file_key": lent.enter_context(self._handouts.lend(handout))})
            request = KnowledgeIngest(kb_id=base.kb_id, file=described, config=self._open(base.engine_config))
            answer = await self._call(base.engine, "kb_ingest", request, INGEST_SECONDS)
        outcome = _checked(IngestOutcome, answer, base.engine)
        if outcome.status == "failed":
            raise KnowledgeFailed("engine.refused", outcome.error or f"the engine {base.engine} did not take the file")
        return int(outcome.chunks)

    async def retrieve(
        self,
        base: KnowledgeBase,
        query: str,
        top_k: int,
        filters: Mapping[str, Any] | None,
        settings: Mapping[str, Any],
    ) -> Sequence[KnowledgeChunk]:
        request = KnowledgeRetrieve(
            kb_id=base.kb_id,
            query=query,
            top_k=top_k,
            filters=dict(filters) if filters else None,
            config=self._open(base.engine_config),
            settings=dict(settings),
        )
        answer = await self._call(base.engine, "kb_retrieve", request, RETRIEVE_SECONDS)
        chunks = _checked(KnowledgeResult, answer, base.engine).chunks[:top_k]
        return [chunk.model_copy(update={"kb_id": base.kb_id}) for chunk in chunks]

    async def delete(
        self, engine: str, kb_id: KnowledgeBaseId, config: Mapping[str, Any], file_id: KnowledgeFileId | None = None
    ) -> None:
        request = KnowledgeDelete(kb_id=kb_id, file_id=file_id, config=self._open(config))
        await self._call(engine, "kb_delete", request, DELETE_SECONDS)

    def _open(self, config: Mapping[str, Any]) -> dict[str, Any]:
        return secret_fields.open_secrets(dict(config), self._secrets)

    async def _call(self, engine: str, action: str, request: BaseModel, seconds: float) -> dict[str, Any]:
        find_engine(self._components, engine)
        return await call_plugin(self._plugins, PluginId(engine), action, request, seconds)


class PluginParsers:
    """Reads files by the parsers of plugins and the builtin ones. Implements the port `FileParser`."""

    def __init__(
        self, builtin: FileParser, components: ComponentRegistry, plugins: PluginCaller, handouts: FileHandouts
    ) -> None:
        self._builtin = builtin
        self._components = components
        self._plugins = plugins
        self._handouts = handouts

    def detect(self, head: bytes, name: str, mime_type: str, parser: str = "") -> str | None:
        """Returns the type of a file; with a parser of a plugin, any type is taken."""
        found = self._builtin.detect(head, name, mime_type)
        if parser or (found is None and self._for_format(name, mime_type) is not None):
            return found or mime_type or mimetypes.guess_type(name)[0] or UNKNOWN_TYPE
        return found

    async def parse(
        self, path: Path, name: str, mime_type: str, settings: ChunkSettings, parser: str = ""
    ) -> AsyncIterator[ParsedPart]:
        component = self._find(parser) if parser else None
        if component is None:
            head = await asyncio.to_thread(_read_start, path, HEAD_BYTES)
            if self._builtin.detect(head, name, mime_type) is None:
                component = self._for_format(name, mime_type)
        if component is None:
            async for part in self._builtin.parse(path, name, mime_type, settings):
                yield part
            return
        parsed = await self.parse_whole(component, path, name, mime_type)
        blocks = [
            chunking.Block(each.text, (each.title,) if each.title else (), each.page or 0) for each in parsed.sections
        ]
        started = time.perf_counter()
        passages = await asyncio.to_thread(
            lambda: list(chunking.cut(blocks or [chunking.Block(parsed.text)], settings))
        )
        pages = max((each.page or 0 for each in parsed.sections), default=0)
        yield ParsedPart(passages, 100, pages, parser_name(component), time.perf_counter() - started)

    async def parse_whole(self, component: Parser, path: Path, name: str, mime_type: str) -> ParsedFile:
        """Returns what a parser reads. Raises KnowledgeFailed."""
        file = BaseFile(KnowledgeFileId(""), KnowledgeBaseId(""), name, mime_type, "", "", "upload", 0, 0)  # type: ignore[arg-type]
        described = await _describe(file, path, is_text=False)
        handout = Handout(component.plugin_id, path, KnowledgeBase(file.kb_id, ""), file, path)
        with self._handouts.lend(handout) as key:
            request = ParseFile(file=described.model_copy(update={"file_key": key}), parser=component.name)
            answer = await call_plugin(
                self._plugins, component.plugin_id, "parse_file", request, PARSE_SECONDS, "parse.failed"
            )
        parsed: ParsedFile = _checked(ParsedFile, answer, parser_name(component))
        return parsed

    def _find(self, name: str) -> Parser:
        for component in self._components.parsers():
            if parser_name(component) == name:
                return component
        raise KnowledgeFailed(
            "parser.unavailable", f"the parser {name} is not there; is its plugin installed and running?"
        )

    def _for_format(self, name: str, mime_type: str) -> Parser | None:
        """Returns the first parser that lists the file's extension or type."""
        extension = PurePath(name).suffix.lower()
        for component in self._components.parsers():
            if extension in map(str.lower, component.spec.extensions) or mime_type in component.spec.mime_types:
                return component
        return None


def parser_name(component: Parser) -> str:
    return f"{component.plugin_id}.{component.name}"


def find_engine(components: ComponentRegistry, engine: str) -> Engine:
    """Returns the engine of a plugin. Raises KnowledgeFailed if the plugin is not running."""
    for component in components.knowledge_engines():
        if component.plugin_id == engine:
            return component
    message = f"the engine {engine} is not there; is its plugin installed and running?"
    raise KnowledgeFailed("engine.unavailable", message, retryable=True)


async def call_plugin(
    plugins: PluginCaller,
    plugin_id: PluginId,
    action: str,
    request: BaseModel,
    seconds: float,
    code: str = "engine.failed",
) -> dict[str, Any]:
    """Calls a plugin. Raises KnowledgeFailed."""
    try:
        return await plugins.call(plugin_id, action, request.model_dump(mode="json", exclude_none=True), seconds)
    except PluginUnavailable as error:
        message = f"the plugin {plugin_id} is not running: {error}"
        raise KnowledgeFailed("engine.unavailable", message, retryable=True) from error
    except PluginDisconnected as error:
        message = f"the plugin {plugin_id} stopped during the call"
        raise KnowledgeFailed("engine.unavailable", message, retryable=True) from error
    except PluginCallFailed as error:
        is_late = error.code == "deadline_exceeded"
        message = f"the plugin {plugin_id} did not answer within {seconds:.0f} s" if is_late else str(error)
        raise KnowledgeFailed("engine.timeout" if is_late else code, message, retryable=is_late) from error


def _checked(model: Any, answer: dict[str, Any], name: str) -> Any:
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        raise KnowledgeFailed("engine.failed", f"{name} gave what is no answer") from error


async def _describe(file: BaseFile, content: Path, is_text: bool) -> KnowledgeFile:
    """Describes a file to a plugin, with its content if it is small."""
    described = KnowledgeFile(
        file_id=file.file_id, name=file.name, mime_type=file.mime_type or None, metadata=dict(file.metadata)
    )
    piece = await asyncio.to_thread(_read_start, content, INLINE_BYTES + 1)
    if len(piece) > INLINE_BYTES:
        return described
    field = {"text": piece.decode()} if is_text else {"content_base64": base64.b64encode(piece).decode()}
    return described.model_copy(update=field)


def _read_start(path: Path, length: int) -> bytes:
    with path.open("rb") as file:
        return file.read(length)
