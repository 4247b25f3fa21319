"""What Spark refuses, as people can use it: the one line that counts of the page that it says."""

from __future__ import annotations

import re

_SCHEME = re.compile(r"No FileSystem for scheme \"?([\w+.-]+)")
_CONNECTOR = re.compile(r"ClassNotFoundException: Class \S*\.fs\.(\w+)\.\S+ not found")
_OF_THE_WEB = re.compile(r"hadoop\.fs\.http\.HttpFileSystem|scheme \"?https?\b")
_NO_PARQUET = re.compile(r"(?<!\S)(\S++) is not a Parquet file")
_PACKAGES = {"s3a": "org.apache.hadoop:hadoop-aws:VERSION", "azure": "org.apache.hadoop:hadoop-azure:VERSION"}


def explained(text: str) -> str:
    """Why Spark could not do it.

    >>> explained('... UnsupportedFileSystemException: No FileSystem for scheme "foo"')
    'Spark has no connector for foo:// here; correct the URL, or add one with --conf spark.jars.packages=...'
    >>> explained("Caused by: java.lang.RuntimeException: file:/a.parquet is not a Parquet file (length is too low: 5)")
    'file:/a.parquet is not a Parquet file; leave it out, or name it as what it is'
    """
    if _OF_THE_WEB.search(text):
        return (
            "documents are not fetched over HTTP here; download them first, or let a hub follow them (triplewire poll)"
        )
    connector = _SCHEME.search(text) or _CONNECTOR.search(text)
    if connector:
        package = _PACKAGES.get(connector[1], "...")
        return (
            f"Spark has no connector for {connector[1]}:// here; correct the URL, "
            f"or add one with --conf spark.jars.packages={package}"
        )
    wrong = _NO_PARQUET.search(text)
    if wrong:
        return f"{wrong[1]} is not a Parquet file; leave it out, or name it as what it is"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by:")] or lines[:2]
    return f"Spark could not do it: {' '.join(causes[-2:])}; --verbose shows all it says"
