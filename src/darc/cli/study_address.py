"""What the links of a study begin with."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from darc.errors import InputError
from darc.settings.study import LinkSettings
from darc.study.store import Store
from darc.web.allowed_hosts import host_of_url

DEFAULT_ADDRESS = "http://127.0.0.1:8710"
_DEFAULT_PORT = 8710
# Addresses that stand for all of a machine's, to which nobody can follow a link.
_ALL_ADDRESSES = (None, "0.0.0.0", "::")


@dataclass(frozen=True)
class StudyAddress:
    """What the links of a study begin with."""

    #: Such as https://study.example.org.
    origin: str
    #: The path below the origin, such as /study, or empty.
    root_path: str = ""
    #: Whether links were made with it before.
    is_known: bool = False

    @classmethod
    def of(cls, store: Store) -> "StudyAddress":
        """The address that a study was last served with, or the usual one."""
        url = store.row()["url"] or ""
        parts = urlsplit(url or DEFAULT_ADDRESS)
        return cls(f"{parts.scheme}://{parts.netloc}", parts.path, bool(url))

    @property
    def base(self) -> str:
        """What links begin with."""
        return self.origin + self.root_path

    @property
    def local_port(self) -> int:
        """The port to listen on; behind https it is that of a proxy."""
        parts = urlsplit(self.origin)
        if parts.scheme != "http":
            return _DEFAULT_PORT
        return parts.port or 80

    def changed(self, settings: LinkSettings, host: str | None = None) -> "StudyAddress":
        """The address with what the options change.

        Args:
            settings: The options about links.
            host: The address that the pages are served on, None if they are not.

        Raises:
            InputError: If the URL is not one of http or https.
        """
        origin = self.origin
        root_path = self.root_path
        if settings.url:
            host_of_url(settings.url)
            if not settings.url.startswith(("http://", "https://")):
                raise InputError(f"--url is {settings.url!r}", "give it as https://NAME")
            origin = settings.url.rstrip("/")
            root_path = ""
        elif origin.startswith("http://") and (host or settings.port):
            origin = self._local_origin(host, settings.port)
        if settings.root_path is not None:
            root_path = settings.root_path.rstrip("/")
        return StudyAddress(origin, root_path, self.is_known)

    def _local_origin(self, host: str | None, port: int | None) -> str:
        """The origin on this machine, with another name or port."""
        parts = urlsplit(self.origin)
        if host is None or host in _ALL_ADDRESSES:
            name = parts.hostname or ""
        else:
            name = host.strip("[]")
        if ":" in name:
            name = f"[{name}]"
        return f"http://{name}:{port or parts.port}"

    def keep(self, store: Store) -> str:
        """Write the address down for later links, and return what links begin with."""
        if self.base != (store.row()["url"] or ""):
            store.keep_address(self.base)
        return self.base
