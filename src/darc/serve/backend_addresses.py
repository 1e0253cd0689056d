"""How the servers and models behind a gateway are written: openai:MODEL@URL=SHARE."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from darc.errors import InputError
from darc.models.remote.address import base_url, parse_address
from darc.registry import parse_spec

_SHARE = re.compile(r"(?P<backend>.+)=(?P<share>\d+\.?\d*|\.\d+)", re.DOTALL)
# What ends with ",key" before its "=" is an option of the backend, and not a share.
_OPTION_KEY = re.compile(r".*,\s*\w+", re.DOTALL)
_FORM = "write --backend openai:MODEL@URL=SHARE for each model"


@dataclass(frozen=True)
class BackendAddress:
    """A server, and the model that it is asked for."""

    #: The server, or several with | between their URLs.
    url: str
    #: The model; empty for the one that a request names.
    model: str
    #: The environment variable with the key.
    key_env: str
    #: Which part of the candidates it writes; the shares of all backends add up to 1.
    share: float = 1.0


def parse_backends(texts: Sequence[str], key_env: str) -> tuple[BackendAddress, ...]:
    """Read what --backend was given.

    Args:
        texts: URL or openai:MODEL@URL[,key_env=NAME]; if there are several, each with a model, and
            =SHARE at the end of all or none of them.
        key_env: The environment variable with the key of those that name none.

    Returns:
        The addresses, whose shares add up to 1.

    Raises:
        InputError: A text is not a backend, or they do not fit together.
    """
    parsed = [_parse_backend(text, key_env) for text in texts]
    addresses = [address for address, _ in parsed]
    shares = [share for _, share in parsed]
    if len(addresses) > 1:
        _check_models(addresses)
    given_shares = [share for share in shares if share is not None]
    if not given_shares:
        given_shares = [1.0] * len(addresses)
    if len(given_shares) < len(addresses):
        missing = addresses[shares.index(None)].model
        raise InputError(f"the backend {missing} has no share", f"{_FORM}, or for none of them")
    if not all(share > 0 and math.isfinite(share) for share in given_shares):
        raise InputError("the share of a backend is not over 0", _FORM)
    total = sum(given_shares)
    return tuple(
        BackendAddress(address.url, address.model, address.key_env, share / total)
        for address, share in zip(addresses, given_shares, strict=True)
    )


def _parse_backend(text: str, key_env: str) -> tuple[BackendAddress, float | None]:
    """One backend, and its share if it has one."""
    share = None
    match = _SHARE.fullmatch(text.strip())
    if match is not None and not _OPTION_KEY.fullmatch(match["backend"]):
        text = match["backend"]
        share = float(match["share"])
    spec = parse_spec(text)
    if spec.name != "openai":
        return BackendAddress(base_url(text), "", key_env), share
    options = dict(spec.options)
    key_env = options.pop("key_env", key_env)
    if options:
        raise InputError(
            f"--backend takes no {min(options)}", "`darc serve --help-all` lists all options"
        )
    model, url = parse_address(spec.argument)
    return BackendAddress(url, model, key_env), share


def _check_models(addresses: Sequence[BackendAddress]) -> None:
    """Refuse several backends whose candidates could not be told apart."""
    for address in addresses:
        if not address.model:
            raise InputError(f"the backend {address.url} has no model", _FORM)
    models = [address.model for address in addresses]
    for model in models:
        if models.count(model) > 1:
            raise InputError(
                f"the model {model} has several backends",
                f"write its servers as one: openai:{model}@URL|URL",
            )
