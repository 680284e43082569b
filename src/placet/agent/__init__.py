"""The turn loop, the mailbox, recovery, and the models that drive them."""
