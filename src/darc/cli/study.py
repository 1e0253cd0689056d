"""`darc study`: ratings from people, in one process and one file."""

from argparse import Namespace
from importlib.util import find_spec
from pathlib import Path

from darc.cli.parser import Parser, add_arrival, texts_of
from darc.errors import MissingExtra


def add(parser: Parser) -> None:
    """Add the actions."""
    actions = parser.add_actions()
    own = {
        name: actions.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        for name, text in texts_of("study actions").items()
    }
    _add_init(own["init"])
    links = own["links"]
    links.add_argument(
        "--add", type=int, metavar="N", help="N more annotators, up to most in study.toml (1000)"
    )
    links.add_argument("--renew", nargs="+", metavar="RATER", help="new links for old ones")
    links.add_argument("--revoke", nargs="+", metavar="RATER", help="make links stop working")
    links.add_argument("--lead", action="store_true", help="a new link for the lead")
    links.add_argument("--enrolment", action="store_true", help="a new link for open enrolment")
    serve = own["serve"]
    serve.add_argument("--host", help="address (default: 127.0.0.1)")
    serve.add_argument("--rate", type=float, default=600.0, help="requests per minute and visitor")
    serve.add_argument("--grace", type=float, default=10.0, help="seconds to end")
    add_arrival(serve)
    for each in (own["init"], links, serve):
        each.add_argument(
            "--url",
            metavar="URL",
            help="what links begin with, such as https://study.example.org "
            "(default: what was last given)",
        )
        each.add_argument("--root-path", metavar="PATH", help="path under a proxy, such as /study")
        each.add_argument("--port", type=int, help="of the pages (default: the last one, or 8710)")
    own["status"].add_argument("--json", action="store_true", help="one JSON object")
    group = own["review"].add_mutually_exclusive_group()
    group.add_argument("--exclude", metavar="RATER", help="set their ratings aside")
    group.add_argument("--reinstate", metavar="RATER", help="undo an exclusion")
    group.add_argument("--clear", metavar="RATER", help="the flags mean nothing")
    group.add_argument("--log", action="store_true", help="print every decision made so far")
    own["review"].add_argument("--reason", default="", metavar="TEXT", help="why they are excluded")
    own["close"].add_argument("--force", action="store_true", help="even if items lack ratings")
    own["export"].add_argument("folder", type=Path, help="where the files go")
    own["export"].add_argument(
        "--unblind", action="store_true", help="even while the study is open"
    )
    own["erase"].add_argument("rater", help="the pseudonym")
    own["backup"].add_argument("file", type=Path, help="where the copy goes")
    for each in own.values():
        each.add_argument(
            "--database",
            metavar="PLACE",
            help="a file, or postgresql://... (default: $DARC_STUDY_DATABASE, or study.db)",
        )


def _add_init(parser: Parser) -> None:
    from darc.cli.options import add_options
    from darc.study.settings import STUDIES, GeneralSettings

    parser.add_argument(
        "file", nargs="?", type=Path, default=Path("study.toml"), help="default: study.toml"
    )
    parser.add_argument(
        "--items", nargs="+", metavar="FILE", help="write the file first, with these items (JSONL)"
    )
    parser.add_argument(
        "--template",
        choices=tuple(STUDIES),
        help="the texts that the file begins with (default: helpfulness)",
    )
    parser.add_argument(
        "--mode", choices=("scalar", "pairwise"), help="pairwise is --template pairwise"
    )
    people = str(GeneralSettings.model_fields["annotators"].default)
    parser.add_argument("--annotators", default=people, metavar="N", help="how many, or: open")
    add_options(parser, GeneralSettings, "ratings", "seed")


def run(arguments: Namespace) -> None:
    """Run the action that was asked for."""
    if not all(map(find_spec, ("markdown_it", "sqlalchemy", "starlette", "uvicorn"))):
        raise MissingExtra("darc study", "study")
    from darc.cli import study_actions

    getattr(study_actions, arguments.action)(arguments)
