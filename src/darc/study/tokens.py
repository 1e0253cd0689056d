"""Secrets of links: random, shown once, only their hash kept."""

import hashlib
import hmac
import secrets

from darc.web.keys import digest_of

BYTES = 32
CODE_BYTES = 12


def make_token() -> tuple[str, str]:
    """A token of a link, and its hash, which is what is stored."""
    token = secrets.token_urlsafe(BYTES)
    return token, digest_of(token)


def make_code() -> str:
    """An opaque name of a task."""
    return secrets.token_urlsafe(CODE_BYTES)


def form_token(token: str) -> str:
    """What a form must carry: made from the visitor's own token, so that no other site knows it."""
    return hmac.new(token.encode(), b"form", hashlib.sha256).hexdigest()


def form_is_own(token: str, given: str) -> bool:
    """Whether a form came from a page of this visitor."""
    return hmac.compare_digest(form_token(token).encode(), given.encode())
