"""Folders that hold no tests."""

collect_ignore = ["mindspore_files"]  # a program for MindSpore, and what it wrote
