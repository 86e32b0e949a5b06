"""Tensors, Parameters and element types under MindSpore's names."""
