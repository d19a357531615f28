"""Creates collections of vectors, with the reference texts that searches compare with."""

from parlour.core.model.knowledge import KnowledgeBase

from .ports import HOST_CONTEXT, Embeddings, VectorStore
from .reference_texts import REFERENCE_DOCUMENT, REFERENCE_PREFIX, reference_texts


async def ensure_collection(store: VectorStore, embeddings: Embeddings, base: KnowledgeBase, dimension: int) -> None:
    """Creates the collection of a base if there is none. Raises KnowledgeFailed if its vectors have another length."""
    is_new = await store.count(base.collection) is None
    await store.create(base.collection, dimension)
    if is_new:
        texts = reference_texts()
        vectors = await embeddings.embed(base.embedding_model, texts, HOST_CONTEXT)
        ids = [f"{REFERENCE_PREFIX}{number}" for number in range(len(texts))]
        await store.add(base.collection, REFERENCE_DOCUMENT, ids, vectors)
