"""The wire: what crosses between a service and others, and means the same on both sides.

In come errors, out go the problems that tell them, and back (`problems`); a challenge and the signature that answers it
(`keys`). Service and client both use it, so that neither needs the other. It never sends or receives anything itself.
"""
