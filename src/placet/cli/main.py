"""The entry point: makes the process safe before the first import, then hands over to the verbs.

Until `harden` has run, this module uses nothing but what the interpreter has already loaded, so that no file in the
folder where somebody stands can take the place of a module.
"""

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    umask = harden()
    from placet.cli.verbs import run

    sys.exit(run(sys.argv[1:], umask=umask))


def harden() -> int:
    """Take the current directory off the module path, forbid others to read this process, and create files for us only.

    Returns the umask that was in force: commands of the agent get that one back. The
    effect of `python -P` (PYTHONSAFEPATH), whichever way placet was started; see prctl(2), PR_SET_DUMPABLE.
    """
    import os  # loaded by the interpreter itself before any code of ours

    try:
        here = os.getcwd()
    except OSError:  # the directory is gone: there is nothing to take off but relative entries
        here = ""
    ours = (sys.prefix + os.sep, sys.base_prefix + os.sep)
    sys.path[:] = [
        entry
        for entry in sys.path
        if os.path.isabs(entry) and (os.path.realpath(entry) != os.path.realpath(here) or entry.startswith(ours))
    ]
    umask = os.umask(0o077)
    if sys.platform == "linux":
        import ctypes

        set_dumpable = 4
        ctypes.CDLL(None, use_errno=True).prctl(set_dumpable, 0, 0, 0, 0)
    return umask


if __name__ == "__main__":
    main()
