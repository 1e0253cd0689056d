"""Where candidates come from."""

from darc.serve.embedded_backend import EmbeddedBackend
from darc.serve.remote_backend import RemoteBackend

Backend = RemoteBackend | EmbeddedBackend
