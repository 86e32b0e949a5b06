"""Foundations hold what every other room may import, and import none of them."""
