"""Writes plugins with a knowledge engine and a parser, which tests install."""

from pathlib import Path

MANIFEST = """\
apiVersion: parlour/v1
kind: Plugin
metadata: {author: test, name: NAME, version: 0.1.0}
spec:
  components: [component.yaml]
  permissions: {storage: [plugin]}
"""
ENGINE = """\
apiVersion: parlour/v1
kind: KnowledgeEngine
metadata: {name: shelf, label: {en_US: Shelf}}
spec:
  files: TAKES
  config_schema:
    - {name: shelf, label: {en_US: Shelf}, type: string, required: true}
    - {name: key, label: {en_US: Key}, type: secret}
  retrieval_schema:
    - {name: shout, label: {en_US: Shout}, type: boolean, default: false}
execution:
  python: {path: shelf.py, attr: Shelf}
"""
SHELF = """\
import json
import os

from parlour_sdk.components import KnowledgeEngine, content_of
from parlour_sdk.protocol.knowledge import ChunkSource, KnowledgeChunk


class Shelf(KnowledgeEngine):
    async def ingest(self, kb_id, file, ctx):
        if b"crash" in content_of(file)[:100]:
            os._exit(3)
        if b"refuse" in content_of(file)[:100]:
            raise ValueError("this shelf takes no such file")
        if file.text is None:
            parsed = await ctx.api.knowledge_files.parse(file.file_key)
            text = "\\n\\n".join(section.text for section in parsed.sections)
        else:
            text = file.text
        passages = [each.strip() for each in text.split("\\n\\n") if each.strip()]
        kept = {"name": file.name, "passages": passages, "length": len(content_of(file))}
        kept["key"] = ctx.config.get("key")
        await ctx.api.storage.set("plugin", f"{kb_id}/{file.file_id}", json.dumps(kept).encode())
        return len(passages)

    async def retrieve(self, kb_id, query, top_k, filters, ctx):
        words = set(query.lower().split())
        found = []
        for key in (await ctx.api.storage.list("plugin", f"{kb_id}/")).keys:
            stored = await ctx.api.storage.get("plugin", key)
            if stored is None:  # deleted since it was listed
                continue
            kept = json.loads(stored)
            for place, text in enumerate(kept["passages"]):
                score = len(words & set(text.lower().split())) / len(words)
                if score:
                    about = {"file_id": key.split("/")[1], "length": kept["length"], "key": kept["key"]}
                    found.append(
                        KnowledgeChunk(
                            chunk_id=f"{key}#{place}",
                            kb_id=kb_id,
                            content=text.upper() if ctx.settings["shout"] else text,
                            score=score,
                            source=ChunkSource(file_name=kept["name"], position=place),
                            metadata=about,
                        )
                    )
        return sorted(found, key=lambda chunk: -chunk.score)[:top_k]

    async def delete(self, kb_id, file_id, ctx):
        for key in (await ctx.api.storage.list("plugin", f"{kb_id}/{file_id or ''}")).keys:
            await ctx.api.storage.delete("plugin", key)
"""
VECTOR_MANIFEST = MANIFEST.replace("storage: [plugin]", "storage: [plugin], models: [embed, rerank]")
VECTOR_ENGINE = """\
apiVersion: parlour/v1
kind: KnowledgeEngine
metadata: {name: vectors, label: {en_US: Vectors}}
spec:
  files: content
  config_schema:
    - {name: embedding, label: {en_US: Embedding}, type: embedding-model-selector, required: true}
    - {name: rerank, label: {en_US: Rerank}, type: rerank-model-selector, required: true}
execution:
  python: {path: vectors.py, attr: Vectors}
"""
VECTORS = """\
from parlour_sdk.components import KnowledgeEngine
from parlour_sdk.protocol.knowledge import ChunkSource, KnowledgeChunk
from parlour_sdk.protocol.vectors import VectorRecord


class Vectors(KnowledgeEngine):
    async def ingest(self, kb_id, file, ctx):
        length = 0
        async for piece in ctx.api.knowledge_files.stream(file.file_key):
            length += len(piece)
        parsed = await ctx.api.knowledge_files.parse(file.file_key)
        texts = [section.text for section in parsed.sections]
        vectors = await ctx.api.models.embed(ctx.config["embedding"], texts)
        records = [
            VectorRecord(
                vector_id=f"{file.file_id}:{place}",
                vector=vector,
                text=texts[place],
                metadata={"name": file.name, "file_id": file.file_id, "length": length},
            )
            for place, vector in enumerate(vectors)
        ]
        await ctx.api.vectors.delete(kb_id, prefix=f"{file.file_id}:")
        await ctx.api.vectors.upsert(kb_id, records)
        return len((await ctx.api.vectors.list(kb_id, prefix=f"{file.file_id}:")).vector_ids)

    async def retrieve(self, kb_id, query, top_k, filters, ctx):
        [vector] = await ctx.api.models.embed(ctx.config["embedding"], [query])
        hits = await ctx.api.vectors.search(kb_id, vector, 2, filters)
        if not hits:
            return []
        scores = await ctx.api.models.rerank(ctx.config["rerank"], query, [hit.text for hit in hits])
        return [
            KnowledgeChunk(
                chunk_id=hits[each.index].vector_id,
                kb_id=kb_id,
                content=hits[each.index].text,
                score=each.score,
                source=ChunkSource(file_name=hits[each.index].metadata["name"]),
                metadata={**hits[each.index].metadata, "cosine": hits[each.index].score},
            )
            for each in scores
        ][:top_k]

    async def delete(self, kb_id, file_id, ctx):
        await ctx.api.vectors.delete(kb_id, prefix=f"{file_id}:" if file_id else None)
"""
PARSER = """\
apiVersion: parlour/v1
kind: Parser
metadata: {name: subtitles, label: {en_US: Subtitles}}
spec:
  extensions: [.srt]
  mime_types: [application/x-subrip]
execution:
  python: {path: subtitles.py, attr: Subtitles}
"""
SUBTITLES = """\
from parlour_sdk import Parser
from parlour_sdk.components import content_of
from parlour_sdk.protocol.knowledge import ParsedFile, ParsedSection


class Subtitles(Parser):
    async def parse(self, file, config):
        sections = []
        for block in content_of(file).decode("utf-8-sig").split("\\n\\n"):
            if block.strip():
                number, times, *lines = block.strip().splitlines()
                sections.append(ParsedSection(text=" ".join(lines), title=times.partition(",")[0], page=int(number)))
        return ParsedFile(text="\\n".join(section.text for section in sections), sections=sections)
"""


def write_engine(folder: Path, takes: str = "text") -> Path:
    """Writes the plugin `test/shelf-TAKES`, which keeps passages in its storage."""
    folder.mkdir()
    (folder / "manifest.yaml").write_text(MANIFEST.replace("NAME", f"shelf-{takes}"))
    (folder / "component.yaml").write_text(ENGINE.replace("TAKES", takes))
    (folder / "shelf.py").write_text(SHELF)
    return folder


def write_vector_engine(folder: Path) -> Path:
    """Writes the plugin `test/vectors`, which keeps vectors in the Host and calls its models."""
    folder.mkdir()
    (folder / "manifest.yaml").write_text(VECTOR_MANIFEST.replace("NAME", "vectors"))
    (folder / "component.yaml").write_text(VECTOR_ENGINE)
    (folder / "vectors.py").write_text(VECTORS)
    return folder


def write_parser(folder: Path) -> Path:
    """Writes the plugin `test/subtitles`, which reads subtitles of films."""
    folder.mkdir()
    (folder / "manifest.yaml").write_text(MANIFEST.replace("NAME", "subtitles"))
    (folder / "component.yaml").write_text(PARSER)
    (folder / "subtitles.py").write_text(SUBTITLES)
    return folder
