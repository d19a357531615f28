"""What a journal raises, and what each means to whoever asked."""


class GuardFailed(Exception):
    """A statement of the unit did not touch the number of rows it expected; nothing of the unit happened."""

    def __init__(self, unit: str, statement: int) -> None:
        super().__init__(f"guard of statement {statement} in unit '{unit}' failed")
        self.unit = unit
        self.statement = statement


UNCERTAIN = "storage_uncertain"


class StorageFailed(Exception):
    """The database could not do it; nothing of the unit happened, unless it is uncertain."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    @property
    def uncertain(self) -> bool:
        """The database was lost over it for so long that nobody can say whether it happened."""
        return self.code == UNCERTAIN
