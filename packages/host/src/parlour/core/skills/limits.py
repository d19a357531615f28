"""The limits of a skill's package, and the error that names what is wrong with one."""

from typing import Final

MEBIBYTE: Final = 1024 * 1024
MAX_ARCHIVE_BYTES: Final = 20 * MEBIBYTE
MAX_FILES: Final = 512
MAX_FILE_BYTES: Final = 16 * MEBIBYTE
MAX_TOTAL_BYTES: Final = 64 * MEBIBYTE
MAX_RATIO: Final = 100
"""Largest ratio of unpacked to packed bytes of an archive beyond its first MiB."""
MAX_TEXT_BYTES: Final = MEBIBYTE
"""Largest text file that can be shown or changed."""
MAX_SKILLS: Final = 1000
MAX_SCANNED_ENTRIES: Final = 10_000
MAX_PATH_BYTES: Final = 500
MAX_NAME_CHARACTERS: Final = 64
MAX_DESCRIPTION_CHARACTERS: Final = 1024
MAX_FRONT_MATTER_BYTES: Final = 64 * 1024
MAX_INSTRUCTION_BYTES: Final = 256 * 1024
"""Largest SKILL.md. The convention advises far less."""


class SkillInvalid(Exception):
    """Raised for a package that can't be used; the message says which file is wrong and what is accepted."""
