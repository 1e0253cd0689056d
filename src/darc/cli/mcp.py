"""`darc mcp`: a server of the Model Context Protocol over standard input and output."""

from darc.cli.choosing import rule_parameters, standards_of
from darc.cli.commands import Command
from darc.cli.engines import make_engine
from darc.cli.output import say
from darc.cli.sources import read_calibrations
from darc.errors import extra_needed
from darc.settings.mcp import McpSettings


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
    say(f"serving the Model Context Protocol on standard input; answers: {settings.generator}")
    tools = Tools(lambda with_model: make_engine(settings, with_model), method, folders)
    serve_stdio(tools, __version__)


COMMAND = Command(McpSettings, run, interrupted="the server has stopped")
