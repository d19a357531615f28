"""Repository of pipelines."""

from parlour.core.journal import Journal
from parlour.core.model.ids import PipelineId
from parlour.core.model.pipeline import Pipeline
from parlour.core.model.ports import Clock
from parlour.core.store.tables import PIPELINES

from .cached_repository import CachedRepository, RowMapping, UnitNames

PIPELINE_ROWS = RowMapping[PipelineId, Pipeline](
    PIPELINES,
    UnitNames(add="pipeline.add", replace="pipeline.replace", remove="pipeline.remove"),
    item_id=lambda pipeline: pipeline.pipeline_id,
    encode=lambda pipeline: {"definition": pipeline.encode()},
    decode=lambda row: Pipeline.decode(row["definition"]),
)


class PipelineRepository(CachedRepository[PipelineId, Pipeline]):
    """All pipelines."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        super().__init__(journal, clock, PIPELINE_ROWS)
