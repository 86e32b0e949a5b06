"""Metrics: what an evaluation counts over all batches."""

__all__: list[str] = []
