"""Builds zips of skills, and a wheel that they require."""

import base64
import hashlib
import io
import zipfile
from collections.abc import Mapping

ADD_SCRIPT = b"""#!/usr/bin/env python3
import sys
print(sum(int(each) for each in sys.argv[1:]))
"""


def document(name: str, description: str = "Adds numbers.", instructions: str = "Run scripts/add.py.") -> bytes:
    return f"---\nname: {name}\ndescription: {description}\n---\n\n{instructions}\n".encode()


def zipped(files: Mapping[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o100755 if content.startswith(b"#!") else 0o100644) << 16
            archive.writestr(entry, content)
    return target.getvalue()


def adder(name: str = "adder") -> dict[str, bytes]:
    return {f"{name}/SKILL.md": document(name), f"{name}/scripts/add.py": ADD_SCRIPT}


def wheel(name: str, answer: str) -> tuple[str, bytes]:
    """Returns the file name and the content of a wheel with one module that has the constant ANSWER."""
    folder = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": f"ANSWER = {answer!r}\n".encode(),
        f"{folder}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode(),
        f"{folder}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    digests = [
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()},{len(content)}"
        for path, content in files.items()
    ]
    files[f"{folder}/RECORD"] = "\n".join([*digests, f"{folder}/RECORD,,", ""]).encode()
    return f"{name}-1.0-py3-none-any.whl", zipped(files)
