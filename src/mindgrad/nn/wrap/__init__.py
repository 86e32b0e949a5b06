"""Cells around a net: with its loss, with its gradient, one training step."""

__all__: list[str] = []
