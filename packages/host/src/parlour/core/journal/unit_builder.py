"""Collects the statements of a unit from several callers before it is committed."""

from .statements import Statement, Unit


class UnitBuilder:
    """Builder of a unit: statements are added one after the other, then `build` returns the unit."""

    def __init__(self, name: str, may_wait: bool = False) -> None:
        self.name = name
        self._can_batch = may_wait
        self._statements: list[Statement] = []

    def __len__(self) -> int:
        return len(self._statements)

    def add(self, *statements: Statement) -> int:
        """Appends statements and returns the position of the first one, for a Ref."""
        position = len(self._statements)
        self._statements += statements
        return position

    def replace(self, position: int, statement: Statement) -> None:
        self._statements[position] = statement

    def build(self) -> Unit:
        return Unit(self.name, tuple(self._statements), self._can_batch)
