"""The program of a host half: the services that a plugin's own code finds, and the line behind them.

It imports nothing of placet but itself, and is handed over as text, or compiled, when a half starts.
"""
