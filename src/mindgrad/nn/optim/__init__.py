"""Optimisers: Cells that change Parameters, given their gradients."""

__all__: list[str] = []
