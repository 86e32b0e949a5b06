"""Loss functions as Cells."""

__all__: list[str] = []
