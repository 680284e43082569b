"""What it takes to run a process to its end: environment, output, files, and the end of all that it started."""
