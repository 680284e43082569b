"""The ways to confine a command. Each tells how far it goes."""
