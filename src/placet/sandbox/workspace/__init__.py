"""The folder that a session works in: whether it may be one, what in it is protected, what around it is hidden."""
