"""`python -m triplewire.cli`: the command where its script is not on the path."""

from triplewire.cli import main

main()
