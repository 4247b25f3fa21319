"""The routes of the HTTP API, version 1: one module for each kind of thing."""
