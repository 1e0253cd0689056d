"""`darc mcp`: a server of the Model Context Protocol over standard input and output."""

from typing import TYPE_CHECKING

from darc.cli.choosing import rule_parameters, standards_of
from darc.cli.commands import Command
from darc.cli.engines import make_engine
from darc.cli.first_model import find_model
from darc.cli.output import say
from darc.cli.sources import read_calibrations
from darc.errors import extra_needed
from darc.settings.mcp import McpSettings

if TYPE_CHECKING:
    from darc.engine.engine import Engine


def run(settings: McpSettings) -> None:
    """Serve until the client closes standard input."""
    with extra_needed("darc mcp", "mcp"):
        import mcp.server  # noqa: F401
    from darc import __version__
    from darc.decide.method import Method
    from darc.mcp.allowed_folders import AllowedFolders
    from darc.mcp.server import serve_stdio
    from darc.mcp.tools import Tools

    folders = AllowedFolders(settings.allow_folder)
    method = Method.parse(
        settings.rule,
        rule_parameters(settings.caution),
        calibrations=read_calibrations(settings.calibration),
        beta=settings.beta,
        gamma=settings.gamma,
        standards=standards_of(settings),
    )
    say("serving the Model Context Protocol on standard input")

    def make_engine_of(with_model: bool) -> "Engine":
        if with_model:
            return make_engine(_with_found_model(settings))
        return make_engine(settings, with_model=False)

    tools = Tools(make_engine_of, method, folders)
    serve_stdio(tools, __version__)


def _with_found_model(settings: McpSettings) -> McpSettings:
    """The settings with a model that was found, if none is named."""
    if "generator" in settings.model_fields_set:
        return settings
    model = find_model(settings, "--generator", may_ask=False)
    return settings.model_copy(update={"generator": model.generator})


COMMAND = Command(McpSettings, run, interrupted="the server has stopped")
