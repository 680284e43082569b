"""The program of the confined helper. It imports nothing of placet but itself, and is handed over as text at its start.

It opens no magic link, nothing of /proc, /sys and /dev, and nothing but regular files and folders; the sandbox that it
runs in holds the rest.
"""
