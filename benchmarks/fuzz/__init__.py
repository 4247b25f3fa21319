"""Fuzzing: whatever comes in, only errors of our own come out, soon, and the process lives.

`targets` says what is tried, `one` tries one of them with atheris, which follows the coverage of what runs, `routes`
asks a service, `run` shares the time out and writes down what was found. Findings become `tests/attacks/cases/TARGET/`.
"""
