"""What a command can touch, how far that is enforced, and what was denied."""
