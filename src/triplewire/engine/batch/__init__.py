"""A batch: changes of documents in, rows that begin, end and change, and their events, out.

`permissions` and `feeds` say what the changes are of, `policies` whether a schema lets them in; `revisions` is what
they do to each document, statement by statement. `application` is the way of a batch: the rows that its statements
touch (`differences`, `hits`), the documents behind them (`reasons`), and what is written. `overlays` show the state
that it leads to before it is committed, to workers in other processes; `recovery` answers again what was over a limit.
Nothing here reads a language, and nothing is told before the transaction is over.
"""
