"""The actions of `darc study`."""

import argparse
import csv
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from darc.cli.parser import arrival_of
from darc.errors import InputError
from darc.study import exclusion, people
from darc.study.create import create, study_toml, study_units
from darc.study.export import export as write_files
from darc.study.schema import log_lines
from darc.study.settings import STUDIES, read_study_file
from darc.study.status import Status
from darc.study.status import close as close_study
from darc.study.status import status as read_status
from darc.study.store import Store, open_store
from darc.study.store import backup as copy
from darc.tables import atomic_writer
from darc.views.text_table import text_table
from darc.web.middleware import authority_of

Arguments = argparse.Namespace

DEFAULT = "study.db"
ADDRESS = "http://127.0.0.1:8710"
VARIABLE = "DARC_STUDY_DATABASE"


@contextmanager
def opened(arguments: Arguments, *, new: bool = False) -> Iterator[Store]:
    """The study's store, closed at the end."""
    store = open_store(_place(arguments), new=new)
    try:
        yield store
    finally:
        store.close()


def init(arguments: Arguments) -> None:
    """Make the study; print the lead's link."""
    text = "" if arguments.items is None else _from_template(arguments)
    config = read_study_file(arguments.file, text)
    units = study_units(config)
    place = _place(arguments)
    existed = "://" in place or Path(place).exists()
    try:
        with opened(arguments, new=True) as store:
            lead, enrol = create(store, config, *units)
            base = _base(arguments, store)
            found = read_status(store)
        if text:
            with atomic_writer(arguments.file) as file:
                file.write(text)
    except BaseException:
        if not existed:
            for ending in ("", "-wal", "-shm"):
                Path(place + ending).unlink(missing_ok=True)
        raise
    print(
        f"{len(found.items)} items, {config.study.ratings} ratings each, "
        f"{len(found.people) or 'open enrolment of'} annotators",
        file=sys.stderr,
    )
    print(
        "the lead's link, shown this once; darc study links makes those of annotators:",
        file=sys.stderr,
    )
    made = [("lead", "/lead/join/", lead)]
    _print(made if config.panel is not None else [*made, ("enrolment", "/enrol/", enrol)], base)


def links(arguments: Arguments) -> None:
    """Make links as CSV: rater_id, link."""
    with opened(arguments) as store:
        if arguments.revoke:
            for name in arguments.revoke:
                people.revoke(store, name)
                print(f"the link of {name} works no more", file=sys.stderr)
            return
        if arguments.lead:
            made = [("lead", "/lead/join/", people.renew(store, "lead"))]
        elif arguments.enrolment:
            if store.config.panel is not None:
                raise InputError("the study has a panel", 'write annotators = "open" for enrolment')
            made = [("enrolment", "/enrol/", people.renew(store, "enrolment"))]
        elif arguments.add is not None:
            made = [(n, "/join/", token) for n, token in people.add_links(store, arguments.add)]
        else:
            issued = people.issue_links(store, arguments.renew or ())
            made = [(name, "/join/", token) for name, token in issued]
        base = _base(arguments, store)
    if not made:
        print("every annotator has a link; --renew RATER makes a new one", file=sys.stderr)
        return
    _print(made, base)


def serve(arguments: Arguments) -> None:
    """Serve until SIGINT or SIGTERM."""
    from darc.study.app import make_app
    from darc.web.clients import trusted_proxies
    from darc.web.server import listening, log_as_json
    from darc.web.server import serve as serve_app

    limits = arrival_of(arguments)
    proxies = trusted_proxies(arguments.trusted_proxy)
    store = open_store(_place(arguments))
    before = people.address(store)
    parts = urlsplit(before or ADDRESS)
    host = arguments.host or "127.0.0.1"
    port = (parts.port or 80) if parts.scheme == "http" else urlsplit(ADDRESS).port or 0
    bound = listening(host, port if arguments.port is None else arguments.port)
    port = bound.getsockname()[1]
    if arguments.port is not None:
        arguments.port = port
    base = _base(arguments, store)
    if before and base != before:
        print(f"links made before begin with {before}; replace that by {base}", file=sys.stderr)
    root = urlsplit(base).path
    app = make_app(
        store,
        root,
        base.removesuffix(root),
        arguments.rate,
        host,
        arguments.allowed_host or (),
        proxies,
    )
    log_as_json(arguments.log_level)
    print(
        f"serving the study on http://{host}:{port}{root}; links begin with {base}",
        file=sys.stderr,
        flush=True,
    )
    serve_app(app, bound, arguments.grace, limits)


def status(arguments: Arguments) -> None:
    """Print where the study stands."""
    with opened(arguments) as store:
        found = read_status(store)
    if arguments.json:
        plain = json.loads(json.dumps(asdict(found)), parse_constant=lambda _: None)
        print(json.dumps(plain, ensure_ascii=False))
        return
    print(
        f"{'closed' if found.closed else 'open'}: {found.given} of "
        f"{len(found.items) * found.ratings} valid ratings, "
        f"{found.complete} of {len(found.items)} items complete"
    )
    for name, alpha in (("all ratings", found.before), ("after exclusion", found.after)):
        if alpha.ratings:
            print(f"Krippendorff's alpha, {name} ({alpha.ratings}): {alpha.words}")
    print()
    print(_people(found, [each.name for each in found.people]))


def review(arguments: Arguments) -> None:
    """Decide on an annotator, or list those who are flagged or excluded."""
    with opened(arguments) as store:
        if arguments.exclude:
            exclusion.exclude_by_name(store, arguments.exclude, arguments.reason)
            print(f"{arguments.exclude} is excluded; their slots are open again", file=sys.stderr)
        elif arguments.reinstate:
            back, surplus = exclusion.reinstate(store, arguments.reinstate)
            print(
                f"{back} ratings count again, {surplus} found their slots filled", file=sys.stderr
            )
        elif arguments.clear:
            exclusion.clear(store, arguments.clear)
        elif arguments.log:
            with store.read() as connection:
                for row in log_lines(connection):
                    at = datetime.fromtimestamp(row["at"], UTC).strftime("%Y-%m-%d %H:%M:%S")
                    told = (at, row["actor"], row["action"], row["subject"], row["detail"])
                    print("  ".join(part for part in told if part))
        else:
            found = read_status(store)
            named = [
                each.name
                for each in found.people
                if each.state == "excluded" or (each.care.flags and not each.cleared)
            ]
            print(_people(found, named) if named else "nobody is flagged or excluded")


def close(arguments: Arguments) -> None:
    """Close the study."""
    with opened(arguments) as store:
        found = read_status(store)
        lacking = len(found.items) - found.complete
        if lacking and not found.closed and not arguments.force:
            raise InputError(
                f"{lacking} of {len(found.items)} items lack ratings",
                "wait for them, or add --force",
            )
        close_study(store)
    print(f"closed; {lacking} of {len(found.items)} items lack ratings", file=sys.stderr)


def export(arguments: Arguments) -> None:
    """Write the files and print their names."""
    with opened(arguments) as store:
        for path in write_files(store, arguments.folder, unblind=arguments.unblind):
            print(path)


def erase(arguments: Arguments) -> None:
    """Forget a person."""
    with opened(arguments) as store:
        count = people.erase(store, arguments.rater)
    print(f"{arguments.rater} is forgotten, with {count} answers", file=sys.stderr)


def backup(arguments: Arguments) -> None:
    """Copy the database."""
    with opened(arguments) as store:
        copy(store, arguments.file)
    print(f"wrote {arguments.file}", file=sys.stderr)


def _place(arguments: Arguments) -> str:
    return str(arguments.database or os.environ.get(VARIABLE) or DEFAULT)


def _from_template(arguments: Arguments) -> str:
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


def _base(arguments: Arguments, store: Store) -> str:
    """What links begin with: what is given now, or what the study was made or last served with."""
    before = people.address(store)
    parts = urlsplit(before or ADDRESS)
    origin, root = f"{parts.scheme}://{parts.netloc}", parts.path
    host, port = getattr(arguments, "host", None), arguments.port
    if arguments.url:
        authority_of(arguments.url)
        if not arguments.url.startswith(("http://", "https://")):
            raise InputError(f"--url is {arguments.url!r}", "give it as https://NAME")
        origin, root = arguments.url.rstrip("/"), ""
    elif parts.scheme == "http" and (host or port):
        # Nobody can follow a link to the address that stands for all of a machine's.
        name = parts.hostname or "" if host in (None, "0.0.0.0", "::") else host.strip("[]")
        origin = f"http://{f'[{name}]' if ':' in name else name}:{port or parts.port}"
    base = origin + (root if arguments.root_path is None else arguments.root_path.rstrip("/"))
    if base != before:
        people.keep_address(store, base)
    return base


def _print(made: Sequence[tuple[str, str, str]], base: str) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("rater_id", "link"))
    for name, path, token in made:
        writer.writerow((name, f"{base}{path}{token}"))


def _people(found: Status, names: Sequence[str]) -> str:
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
        for each in found.people
        if each.name in names
    ]
    return text_table(header, rows)
