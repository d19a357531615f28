"""Finds out whether a folder is on a network file system, where SQLite can't rely on locks and fsync."""

import os
import re
from pathlib import Path

_NAMES = """
    9p afs beegfs ceph cifs davfs gfs2 glusterfs gpfs lustre ncpfs nfs nfs4 ocfs2 smb2 smb3 smbfs
    fuse.ceph fuse.gcsfuse fuse.glusterfs fuse.goofys fuse.rclone fuse.s3fs fuse.sshfs
"""
NETWORK_TYPES = frozenset(_NAMES.split())
"""Types of network file systems, as Linux names them."""
MOUNTS = Path("/proc/self/mountinfo")


def network_type(folder: Path, mounts: Path = MOUNTS) -> str:
    """Returns the type of the network file system that the folder is on, or "" if it is on none.

    Only Linux lists its mounts in a file; elsewhere nothing is found.
    """
    try:
        device = os.stat(folder).st_dev
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    number = f"{os.major(device)}:{os.minor(device)}"
    return next((kind for line in lines if (kind := _network_type(line, number))), "")


def _network_type(line: str, number: str) -> str:
    """Returns the type of this mount if it has this device number and is a network file system, and otherwise ""."""
    mount, _, source = line.partition(" - ")
    words = mount.split(" ")
    kind = re.split(r"\s", source, maxsplit=1)[0]
    return kind if len(words) > 2 and words[2] == number and kind in NETWORK_TYPES else ""
