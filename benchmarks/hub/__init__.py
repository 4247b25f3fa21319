"""The service under load, on loopback: a trivial request, publishing, and reading events, by the same client."""
