"""What every room stands on and no domain word: clock, labelled undo, call-next chain, notices, abort signals."""
