"""The module `cgi` of Python 3.12 and before: the functions. FieldStorage is in `pip install legacy-cgi`."""

from __future__ import annotations

from email.message import Message

__all__ = ["parse_header"]


def parse_header(line: str) -> tuple[str, dict[str, str]]:
    """The value of a header, and its options."""
    message = Message()
    message["content-type"] = line
    held = message.get_params(failobj=[("", "")])
    return held[0][0], dict(held[1:])
