"""Derivatives and compilation of Python functions: front end, transforms and back end joined."""
