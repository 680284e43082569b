"""The kernel's own means of confinement, called directly: Landlock, seccomp, capabilities, process control."""
