"""The tests that every adapter passes, as a list of rows: one per event, component, API, action and behaviour.

A platform joins with one PlatformDriver. A row is left out only if the manifest gives the platform's reason under
`not_supported`.
"""

from .adapter_bench import AdapterBench
from .driver import PlatformDriver, SuiteChat
from .evidence_log import EvidenceLog
from .host_bench import HostBench, SuiteHost
from .probe import ApiCall, Probe, action_call, api_call
from .rows import BEHAVIOURS, Row, absence_key
from .suite import rows_of

__all__ = [
    "BEHAVIOURS",
    "AdapterBench",
    "ApiCall",
    "EvidenceLog",
    "HostBench",
    "PlatformDriver",
    "Probe",
    "Row",
    "SuiteChat",
    "SuiteHost",
    "absence_key",
    "action_call",
    "api_call",
    "rows_of",
]
