"""Removing API keys and tokens from texts before they are logged."""

import re
from collections.abc import Iterable
from typing import Any

_MASK = "***"
# What looks like a key anywhere in a text: what follows a word for a key, what begins like a key,
# the password of a URL, and long runs with letters of both cases and digits.
_SECRETS = re.compile(
    r"((?i:bearer\s+|api[-_]?key[\"'=:\s]+))[^\s\"',}]+"
    r"|\b(?i:sk-[\w-]{6,}|darc-[\w-]{16,})"
    r"|(://[^/\s:@]*:)[^/\s@]+(?=@)"
    r"|(?<![\w-])(?=[\w-]*[a-z])(?=[\w-]*[A-Z])(?=[\w-]*\d)[\w-]{32,}"
)
# In a path, also any long part that is not made of words.
_PATH_SECRETS = re.compile(r"(?<![\w-])(?![a-z_-]+(?![\w-]))[\w-]{20,}")
# A shorter value may be an ordinary word, and masking it everywhere would spoil the log.
_MIN_SECRET_LENGTH = 6


def redact_secrets(text: str) -> str:
    """Mask everything in a text that looks like a key."""
    return _SECRETS.sub(_mask_match, text)


def redact_path(path: str) -> str:
    """Mask everything in a URL path that looks like a key or the token of a link."""
    return _PATH_SECRETS.sub(_MASK, redact_secrets(path))


def _mask_match(match: re.Match[str]) -> str:
    before_secret = match[1] or match[2] or ""
    return before_secret + _MASK


class Redactor:
    """Masks keys in any JSON value: what looks like a key, and known keys wherever they stand."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """Make a redactor.

        Args:
            secrets: Keys to mask whatever they look like. Very short ones are ignored.
        """
        long_enough = [secret for secret in secrets if len(secret) >= _MIN_SECRET_LENGTH]
        self._known: re.Pattern[str] | None = None
        if long_enough:
            # The longest first, because one key may be the beginning of another.
            longest_first = sorted(long_enough, key=len, reverse=True)
            self._known = re.compile("|".join(re.escape(secret) for secret in longest_first))

    def redact(self, value: Any) -> Any:
        """Return a value with all keys in its texts masked; other objects become texts."""
        if isinstance(value, dict):
            return {name: self.redact(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.redact(item) for item in value]
        if value is None or isinstance(value, bool | int | float):
            return value
        text = str(value)
        if self._known is not None:
            text = self._known.sub(_MASK, text)
        return redact_secrets(text)
