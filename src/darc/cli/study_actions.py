"""The actions of `darc study`."""

import csv
import os
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from darc.cli.output import print_json, print_table, say
from darc.cli.parser import arrival_of
from darc.errors import InputError
from darc.files import atomic_writer
from darc.study import exclusions, people
from darc.study import links as study_links
from darc.study.backup import backup as copy
from darc.study.checks import study_units
from darc.study.creation import create
from darc.study.database_files import ENDINGS
from darc.study.export import export as write_files
from darc.study.schema import log_lines
from darc.study.settings import STUDIES, read_study_file, study_toml
from darc.study.status import PersonStatus
from darc.study.status import close as close_study
from darc.study.status import status as read_status
from darc.study.store import Store, open_store
from darc.web.allowed_hosts import host_of_url

DEFAULT = "study.db"
ADDRESS = "http://127.0.0.1:8710"
VARIABLE = "DARC_STUDY_DATABASE"
# The links that are no annotator's own.
PATHS = {"lead": "/lead/join/", "enrolment": "/enrol/"}


def init(arguments: Namespace) -> None:
    """Make the study; print the lead's link."""
    text = "" if arguments.items is None else _from_template(arguments)
    config = read_study_file(arguments.file, text)
    items, checks = study_units(config)
    place = _place(arguments)
    existed = "://" in place or Path(place).exists()
    try:
        with open_store(place, new=True) as store:
            lead, enrol = create(store, config, items, checks)
            base = _base(arguments, store)
        if text:
            with atomic_writer(arguments.file) as file:
                file.write(text)
    except BaseException:
        if not existed:
            for ending in ENDINGS:
                Path(place + ending).unlink(missing_ok=True)
        raise
    say(
        f"{len(items)} items, {config.study.ratings} ratings each, "
        f"{config.panel or 'open enrolment of'} annotators"
    )
    say("the lead's link, shown this once; darc study links makes those of annotators:")
    _print({"lead": lead, **({} if config.panel else {"enrolment": enrol})}, base)


def links(arguments: Namespace) -> None:
    """Make links as CSV: rater_id, link."""
    with open_store(_place(arguments)) as store:
        if arguments.revoke:
            for name in arguments.revoke:
                study_links.revoke(store, name)
                say(f"the link of {name} works no more")
            return
        if arguments.enrolment and store.config.panel is not None:
            raise InputError("the study has a panel", 'write annotators = "open" for enrolment')
        if arguments.lead or arguments.enrolment:
            name = "lead" if arguments.lead else "enrolment"
            made = {name: study_links.renew(store, name)}
        elif arguments.add is not None:
            made = dict(study_links.add_links(store, arguments.add))
        else:
            made = dict(study_links.issue_links(store, arguments.renew or ()))
        base = _base(arguments, store)
    if made:
        _print(made, base)
    else:
        say("every annotator has a link; --renew RATER makes a new one")


def serve(arguments: Namespace) -> None:
    """Serve until SIGINT or SIGTERM."""
    from darc.study.app import make_app
    from darc.web.logs import log_as_json
    from darc.web.server import listen
    from darc.web.server import serve as serve_app
    from darc.web.trusted_proxies import TrustedProxies

    limits = arrival_of(arguments)
    proxies = TrustedProxies.parse(arguments.trusted_proxy)
    store = open_store(_place(arguments))
    before = store.row()["url"] or ""
    parts = urlsplit(before or ADDRESS)
    host = arguments.host or "127.0.0.1"
    port = (parts.port or 80) if parts.scheme == "http" else urlsplit(ADDRESS).port or 0
    bound = listen(host, port if arguments.port is None else arguments.port)
    port = bound.getsockname()[1]
    if arguments.port is not None:
        arguments.port = port
    base = _base(arguments, store)
    if before and base != before:
        say(f"links made before begin with {before}; replace that by {base}")
    root = urlsplit(base).path
    origin, names = base.removesuffix(root), arguments.allowed_host
    app = make_app(store, root, origin, arguments.rate, host, names, proxies)
    log_as_json(arguments.log_level)
    say(f"serving the study on http://{host}:{port}{root}; links begin with {base}")
    serve_app(app, bound, arguments.grace, limits)


def status(arguments: Namespace) -> None:
    """Print where the study stands."""
    with open_store(_place(arguments)) as store:
        found = read_status(store)
    if arguments.json:
        print_json(asdict(found))
        return
    print(
        f"{'closed' if found.closed else 'open'}: {found.valid_ratings} of "
        f"{len(found.items) * found.ratings} valid ratings, "
        f"{found.complete} of {len(found.items)} items complete"
    )
    for name, alpha in (("all ratings", found.before), ("after exclusion", found.after)):
        if alpha.ratings:
            print(f"Krippendorff's alpha, {name} ({alpha.ratings}): {alpha.words}")
    print()
    _print_people(found.people)


def review(arguments: Namespace) -> None:
    """Decide on an annotator, or list those who are flagged or excluded."""
    with open_store(_place(arguments)) as store:
        if arguments.exclude:
            exclusions.exclude_by_name(store, arguments.exclude, arguments.reason)
            say(f"{arguments.exclude} is excluded; their slots are open again")
        elif arguments.reinstate:
            back, surplus = exclusions.reinstate(store, arguments.reinstate)
            say(f"{back} ratings count again, {surplus} found their slots filled")
        elif arguments.clear:
            exclusions.clear(store, arguments.clear)
        elif arguments.log:
            with store.read() as connection:
                for row in log_lines(connection):
                    at = datetime.fromtimestamp(row["at"], UTC).strftime("%Y-%m-%d %H:%M:%S")
                    told = (at, row["actor"], row["action"], row["subject"], row["detail"])
                    print("  ".join(part for part in told if part))
        else:
            found = read_status(store)
            named = [each for each in found.people if each.state == "excluded" or each.flagged]
            if named:
                _print_people(named)
            else:
                print("nobody is flagged or excluded")


def close(arguments: Namespace) -> None:
    """Close the study."""
    with open_store(_place(arguments)) as store:
        lacking = close_study(store, force=arguments.force)
        say(f"closed; {lacking} of {len(store.unit_ids['item'])} items lack ratings")


def export(arguments: Namespace) -> None:
    """Write the files and print their names."""
    with open_store(_place(arguments)) as store:
        for path in write_files(store, arguments.folder, unblind=arguments.unblind):
            print(path)


def erase(arguments: Namespace) -> None:
    """Forget a person."""
    with open_store(_place(arguments)) as store:
        count = people.erase(store, arguments.rater)
    say(f"{arguments.rater} is forgotten, with {count} answers")


def backup(arguments: Namespace) -> None:
    """Copy the database."""
    with open_store(_place(arguments)) as store:
        copy(store, arguments.file)
    say(f"wrote {arguments.file}")


def _place(arguments: Namespace) -> str:
    return str(arguments.database or os.environ.get(VARIABLE) or DEFAULT)


def _from_template(arguments: Namespace) -> str:
    """The text of a new study.toml."""
    if arguments.file.exists():
        raise InputError(f"{arguments.file} exists already", "leave --items out to use it")
    count = arguments.annotators
    if count != "open" and not count.isdecimal():
        raise InputError(f"--annotators is {count!r}", "give a number, or: open")
    name = arguments.template or ("pairwise" if arguments.mode == "pairwise" else "helpfulness")
    if arguments.mode not in (None, STUDIES[name][1]):
        raise InputError(
            f"--template {name} is {STUDIES[name][1]}, not {arguments.mode}", "leave --mode out"
        )
    folder = arguments.file.resolve().parent
    items = [os.path.relpath(Path(name).resolve(), folder) for name in arguments.items]
    people = count if count == "open" else int(count)
    return study_toml(items, name, arguments.ratings, people, arguments.seed)


def _base(arguments: Namespace, store: Store) -> str:
    """What links begin with: what is given now, or what the study was made or last served with."""
    before = store.row()["url"] or ""
    parts = urlsplit(before or ADDRESS)
    origin, root = f"{parts.scheme}://{parts.netloc}", parts.path
    host, port = getattr(arguments, "host", None), arguments.port
    if arguments.url:
        host_of_url(arguments.url)
        if not arguments.url.startswith(("http://", "https://")):
            raise InputError(f"--url is {arguments.url!r}", "give it as https://NAME")
        origin, root = arguments.url.rstrip("/"), ""
    elif parts.scheme == "http" and (host or port):
        # Nobody can follow a link to the address that stands for all of a machine's.
        name = parts.hostname or "" if host in (None, "0.0.0.0", "::") else host.strip("[]")
        origin = f"http://{f'[{name}]' if ':' in name else name}:{port or parts.port}"
    base = origin + (root if arguments.root_path is None else arguments.root_path.rstrip("/"))
    if base != before:
        store.keep_address(base)
    return base


def _print(made: Mapping[str, str], base: str) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("rater_id", "link"))
    for name, token in made.items():
        writer.writerow((name, f"{base}{PATHS.get(name, '/join/')}{token}"))


def _print_people(found: Sequence[PersonStatus]) -> None:
    header = ("rater", "state", "items", "seconds", "attention failed", "gold failed", "flags")
    rows = [
        (
            each.name,
            each.state + (f": {each.reason}" if each.reason else ""),
            each.care.items,
            each.care.median_seconds,
            f"{each.care.attention_failed} of {each.care.attention}",
            f"{each.care.gold_failed} of {each.care.gold}",
            ", ".join(each.care.flags) + (" (looked at)" if each.cleared else ""),
        )
        for each in found
    ]
    print_table(header, rows, max_cell_length=100)
