"""What Spark costs and what it gains: batches next to one process, streams next to empty micro-batches.

Each part is a module with `run(options, progress)`, which gives lines, and `verdicts(lines)`; `run` puts them together.
"""
