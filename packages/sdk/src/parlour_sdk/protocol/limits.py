"""Limits of the protocol. Those of a connection (frames, concurrent calls, rates) are in `parlour_sdk.wire.limits`."""

ARTIFACT_CONTENT_BYTES = 1024 * 1024
"""Inline content of `artifact.created`, decoded; more goes through `artifact_create`."""
ARTIFACT_CHUNK_BYTES = 256 * 1024
"""What one `artifact_read`, or one blob on the wire, carries at most."""
MESSAGE_TEXT_BYTES = 256 * 1024
"""Text of a message; a longer one is kept whole as an artifact and delivered as a preview."""
RESULT_BYTES = 256 * 1024
"""Payload of any other result."""
STATE_VALUE_BYTES = 256 * 1024
"""One value of state."""
INLINE_BINARY_BYTES = 32 * 1024
"""Binary content inside an element; more is a reference to an artifact."""
STORAGE_VALUE_BYTES = 1024 * 1024
"""One blob of storage."""
PAGE_HTML_BYTES = 1024 * 1024
"""The HTML file of a page in the web interface."""
PAGE_ITEMS = 100
"""Items of a page of history, events, runs or run events."""
STATE_LIST_KEYS = 100
"""Keys that `state_list` tells at once."""
KEY_CHARACTERS = 255
"""Characters of a key of state or storage; at least one."""
STEERING_QUEUE = 100
"""Messages that wait for a run which claimed them."""
RERANK_DOCUMENTS = 64
"""Documents of one `invoke_rerank`."""
EMBED_TEXTS = 256
"""Texts of one `invoke_embedding`."""
RETRIEVED_CHUNKS = 100
"""Chunks of one retrieval."""
VECTORS_AT_ONCE = 256
"""Vectors of one `vector_upsert`."""
VECTOR_NUMBERS = 4096
"""Numbers of one vector."""
VECTOR_TEXT_CHARACTERS = 16 * 1024
"""Characters of the text that belongs to a vector."""
VECTOR_IDS = 1000
"""Ids of one `vector_delete`."""
SEARCH_ITEMS = 100
"""Items that one search of history finds."""
BOOTSTRAP_ITEMS = 50
"""Transcript items inlined into a context, whatever a runner asks for."""
BOOTSTRAP_BYTES = 64 * 1024
"""Their size together."""
TRANSCRIPT_TEXT_BYTES = 64 * 1024
"""Text of one transcript item; a longer one is an artifact."""
INPUT_SUMMARY_CHARACTERS = 1000
"""What an event record tells of its input."""
NESTED_QUOTES = 8
"""Quotes and forwards inside each other, so that whatever is valid can also cross the wire."""
LARGEST_INTEGER = 2**53 - 1
"""What every JSON reader and every database can hold."""
