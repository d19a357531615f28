"""A secret box that marks what it sealed."""


class MarkingBox:
    def seal(self, secret: str) -> str:
        return f"sealed {secret}"

    def open(self, sealed: str) -> str:
        return sealed.removeprefix("sealed ")
