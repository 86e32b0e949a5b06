"""Launchers: start the processes of a job, watch them, and stop all if one fails."""
