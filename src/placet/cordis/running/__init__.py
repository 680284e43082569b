"""Runs of one process: what it knows of all sessions, how it starts and ends runs, and how it writes that down."""
