"""Forms that visitors send, and the secrets in their links."""

import hashlib
import hmac
from urllib.parse import parse_qs

from starlette.requests import Request

from darc.web.problems import Problem

_MAX_FIELDS = 40


def link_secret(request: Request) -> str:
    """The secret that a link carried."""
    return str(getattr(request.state, "secret", ""))


def form_token(token: str) -> str:
    """What a form must carry: made from the visitor's own token, so that no other site knows it."""
    return hmac.new(token.encode(), b"form", hashlib.sha256).hexdigest()


def read_form(request: Request, token: str) -> dict[str, str]:
    """Read a form that this visitor's own page sent.

    Args:
        request: The request, whose body was read before.
        token: The visitor's token; empty if they have none.

    Returns:
        The fields.

    Raises:
        Problem: It is not a form, or not this visitor's.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/x-www-form-urlencoded":
        raise Problem(415, "Forms are sent as application/x-www-form-urlencoded.")
    try:
        body = request.state.body.decode("utf-8")
        values = parse_qs(body, keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError:
        raise Problem(400, "The form cannot be read.") from None
    fields = {name: value[0] for name, value in values.items()}
    if token:
        expected = form_token(token).encode()
        if not hmac.compare_digest(expected, fields.get("form_token", "").encode()):
            raise Problem(403, "The form is too old or not yours; open your link again.")
    return fields
