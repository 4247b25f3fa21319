"""The pipeline beside the service: what was acknowledged is applied in a process of its own, for every tenant.

The service starts that process and starts it again when it dies (`child`); `process` is what runs in it, with one Spark
for what is too much for one engine (`spark`). It reads logs and writes stores; no request comes to it.
"""
