"""`python -m placet`: the same as the command `placet`."""

from placet.cli.main import main

main()
