"""How long the slow tests look for a history that goes wrong: `HISTORIES=10000 ./run test --slow` takes many hours."""

import os

MANY = int(os.environ.get("HISTORIES", "500"))
"""Random histories of each slow test of a network."""
