"""What can be told about code before it runs: whether it can be read at all, and what it names."""
