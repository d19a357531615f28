"""Simulates several Hosts on one database: crashes, pauses and cuts at each commit, send and beat, on virtual time.

`run_cluster(seed)` runs one schedule and raises BrokenPromise, which names the seed.
"""

from .schedule import ClusterReport as ClusterReport
from .schedule import run_cluster as run_cluster
