"""Layers: Cells with Parameters, and Cells that apply one function."""

__all__: list[str] = []
