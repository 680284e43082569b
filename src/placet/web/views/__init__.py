"""What screens are shown, folded from the log: session summaries, open asks, the stream."""
