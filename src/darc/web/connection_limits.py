"""Limits on requests while they arrive."""

from darc.settings.model import SettingsModel, option


class ConnectionLimits(SettingsModel):
    """How large the headers of a request may be, and how long a request may take to arrive.

    A body may pause for at most half of `body_timeout`.
    """

    max_header: int = option(65_536, "the most bytes of headers in a request", "BYTES", gt=0)
    header_timeout: float = option(10.0, "seconds for the headers of a request to arrive", gt=0)
    body_timeout: float = option(60.0, "seconds for the body of a request to arrive", gt=0)
