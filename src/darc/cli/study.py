"""`darc study`: ratings from people, in one process and one file."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from darc.cli.commands import Command
from darc.errors import MissingExtra
from darc.settings import study as settings

_LIBRARIES = ("markdown_it", "sqlalchemy", "starlette", "uvicorn")


def _action(name: str) -> Callable[[Any], None]:
    """An action, whose libraries are imported when it runs."""

    def run(action_settings: Any) -> None:
        if not all(find_spec(library) for library in _LIBRARIES):
            raise MissingExtra("darc study", "study")
        from darc.cli import study_actions

        getattr(study_actions, name)(action_settings)

    return run


ACTIONS = {
    "init": Command(settings.InitSettings, _action("init")),
    "links": Command(settings.LinksSettings, _action("links")),
    "serve": Command(settings.StudyServeSettings, _action("serve"), "the server has stopped"),
    "status": Command(settings.StatusSettings, _action("status")),
    "review": Command(settings.ReviewSettings, _action("review")),
    "close": Command(settings.CloseSettings, _action("close")),
    "export": Command(settings.StudyExportSettings, _action("export")),
    "erase": Command(settings.EraseSettings, _action("erase")),
    "backup": Command(settings.BackupSettings, _action("backup")),
}
