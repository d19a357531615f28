"""Parts of plugins that connect knowledge bases of other systems."""

from .datasets import DatasetEngine, DatasetRequest, passage

__all__ = ["DatasetEngine", "DatasetRequest", "passage"]
