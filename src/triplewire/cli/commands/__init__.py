"""One module for each command: its options, its help, and the few steps from files to output."""
