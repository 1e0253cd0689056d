"""`darc study`: ratings from people, in one process and one file."""

import argparse
from pathlib import Path
from typing import Any

from darc.cli.parser import Parser, add_arrival, add_general, add_trusted_proxy

DESCRIPTION = """\
A human study: blind, randomised and quality-controlled ratings of answers, from several annotators.

  darc study init --items items.jsonl --annotators 10    makes study.toml and study.db
  darc study links                                       personal links, shown once
  darc study serve                                       the pages
  darc study status | review                             progress and flags; decisions
  darc study close && darc study export results          files for darc select and darc eval"""


def add(commands: Any, name: str) -> None:
    """Add the command and its actions to the parser."""
    parser = commands.add_parser(name, description=DESCRIPTION)
    actions = parser.add_subparsers(
        dest="action", metavar="ACTION", required=True, parser_class=Parser
    )
    for action, (text, options) in ACTIONS.items():
        own = actions.add_parser(action, help=text, description=text[0].upper() + text[1:] + ".")
        options(own)
        own.add_argument(
            "--database",
            metavar="PLACE",
            help="a file, or postgresql://... (default: $DARC_STUDY_DATABASE, or study.db)",
        )
        add_general(own)
        own.set_defaults(run=run)


def _init(parser: argparse.ArgumentParser) -> None:
    from darc.config import add_options
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
    people = GeneralSettings.model_fields["annotators"].default
    parser.add_argument(
        "--annotators",
        default=str(people),
        metavar="N",
        help=f"how many people, or: open (default: {people})",
    )
    add_options(parser, GeneralSettings, "ratings", "seed")
    _add_url(parser)


def _links(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--add", type=int, metavar="N", help="N more annotators, up to most in study.toml (1000)"
    )
    parser.add_argument("--renew", nargs="+", metavar="RATER", help="new links for old ones")
    parser.add_argument("--revoke", nargs="+", metavar="RATER", help="make links stop working")
    parser.add_argument("--lead", action="store_true", help="a new link for the lead")
    parser.add_argument("--enrolment", action="store_true", help="a new link for open enrolment")
    _add_url(parser)


def _serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", help="address (default: 127.0.0.1)")
    parser.add_argument("--rate", type=float, default=600.0, help="requests per minute and visitor")
    add_trusted_proxy(parser)
    parser.add_argument("--grace", type=float, default=10.0, help="seconds to end (default: 10)")
    add_arrival(parser)
    _add_url(parser)


def _status(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object")


def _review(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--exclude", metavar="RATER", help="set their ratings aside")
    group.add_argument("--reinstate", metavar="RATER", help="undo an exclusion")
    group.add_argument("--clear", metavar="RATER", help="the flags mean nothing")
    group.add_argument("--log", action="store_true", help="print every decision made so far")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why they are excluded")


def _close(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--force", action="store_true", help="even if items lack ratings")


def _export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, help="where the files go")
    parser.add_argument("--unblind", action="store_true", help="even while the study is open")


def _erase(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rater", help="the pseudonym")


def _backup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="where the copy goes")


def _add_url(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--url",
        metavar="URL",
        help="what links begin with, such as https://study.example.org "
        "(default: what was last given)",
    )
    parser.add_argument("--root-path", metavar="PATH", help="path under a proxy, such as /study")
    parser.add_argument("--port", type=int, help="of the pages (default: the last one, or 8710)")


ACTIONS: dict[str, tuple[str, Any]] = {
    "init": ("make a study from study.toml", _init),
    "links": ("make the links of annotators", _links),
    "serve": ("serve the pages", _serve),
    "status": ("show progress, flags and agreement", _status),
    "review": ("decide on annotators; without options, list those with flags", _review),
    "close": ("take no more answers, and show which system wrote what", _close),
    "export": ("write the ratings and everything about them", _export),
    "erase": ("forget a person and their answers", _erase),
    "backup": ("copy the database, also while it is served", _backup),
}


def run(arguments: argparse.Namespace) -> None:
    """Run the action that was asked for."""
    from darc.errors import MissingExtra

    try:
        import markdown_it  # noqa: F401
        import sqlalchemy  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtra("darc study", "study") from None
    from darc.cli import study_actions

    getattr(study_actions, arguments.action)(arguments)
