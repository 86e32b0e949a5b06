"""Run functions: recording, derivatives, compiled programs, caches, and donation."""
