"""Defines the errors that a journal raises, and their meaning to the caller."""


class GuardFailed(Exception):
    """Raised when a statement did not affect the number of rows it expected; the whole unit was rolled back."""

    def __init__(self, unit: str, statement: int) -> None:
        super().__init__(f"guard of statement {statement} in unit '{unit}' failed")
        self.unit = unit
        self.statement = statement


UNCERTAIN_CODE = "storage_uncertain"
"""Error code of a commit whose result is not known."""


class StorageFailed(Exception):
    """Raised when the database fails; the unit was rolled back, unless the result is `uncertain`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    @property
    def uncertain(self) -> bool:
        """True if the database was unreachable for too long to find out whether the unit was committed."""
        return self.code == UNCERTAIN_CODE
