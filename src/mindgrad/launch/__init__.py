"""Launchers start the processes of a job, watch them, and end all of them when one fails."""
