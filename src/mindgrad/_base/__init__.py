"""Helpers that every other package may import. They import no other package of mindgrad."""
