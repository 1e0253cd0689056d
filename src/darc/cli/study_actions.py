"""The actions of `darc study`."""

import csv
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from darc.cli.output import print_json, print_table, say
from darc.cli.study_address import StudyAddress
from darc.errors import InputError
from darc.files import atomic_writer
from darc.settings.limits import ArrivalSettings
from darc.settings.study import (
    BackupSettings,
    CloseSettings,
    DatabaseSettings,
    EraseSettings,
    InitSettings,
    LinksSettings,
    ReviewSettings,
    StatusSettings,
    StudyExportSettings,
    StudyServeSettings,
)
from darc.study import exclusions, people
from darc.study import links as study_links
from darc.study.backup import backup as copy_database
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
from darc.study.wave_status import PromptStatus
from darc.study.waves import budget_of

DEFAULT_DATABASE = "study.db"
DATABASE_VARIABLE = "DARC_STUDY_DATABASE"
# The paths of links; all others are those of annotators.
_PATHS = {"lead": "/lead/join/", "enrolment": "/enrol/"}
_ANNOTATOR_PATH = "/join/"


def init(settings: InitSettings) -> None:
    """Make the study, and print the link of its lead."""
    text = ""
    if settings.items:
        text = _text_from_template(settings)
    elif settings.adaptive:
        raise InputError(
            "--adaptive is for a new study.toml", f'write design = "adaptive" in {settings.file}'
        )
    config = read_study_file(settings.file, text)
    items, checks = study_units(config)
    place = _database(settings)
    existed = "://" in place or Path(place).exists()
    try:
        with open_store(place, new=True) as store:
            lead, enrolment = create(store, config, items, checks)
            base = StudyAddress.of(store).changed(settings).keep(store)
        if text:
            with atomic_writer(settings.file) as file:
                file.write(text)
    except BaseException:
        if not existed:
            for ending in ENDINGS:
                Path(place + ending).unlink(missing_ok=True)
        raise
    annotators = config.panel or "open enrolment of"
    ratings = f"{config.study.ratings} ratings each"
    if config.is_adaptive:
        ratings = f"at most {budget_of(config, len(items))} ratings in waves"
    say(f"{len(items)} items, {ratings}, {annotators} annotators")
    say("the link of the lead, shown only now; `darc study links` makes those of annotators:")
    tokens = {"lead": lead}
    if not config.panel:
        tokens["enrolment"] = enrolment
    _print_links(tokens, base)


def links(settings: LinksSettings) -> None:
    """Make links, and print them as CSV: rater_id, link."""
    with open_store(_database(settings)) as store:
        if settings.revoke:
            for name in settings.revoke:
                study_links.revoke(store, name)
                say(f"the link of {name} does not work any more")
            return
        tokens = _make_links(settings, store)
        base = StudyAddress.of(store).changed(settings).keep(store)
    if tokens:
        _print_links(tokens, base)
    else:
        say("every annotator has a link; --renew RATER makes a new one")


def _make_links(settings: LinksSettings, store: Store) -> dict[str, str]:
    """The tokens of new links by name."""
    if settings.enrolment and store.config.panel is not None:
        raise InputError("the study has a panel", 'write annotators = "open" for enrolment')
    if settings.lead:
        return {"lead": study_links.renew(store, "lead")}
    if settings.enrolment:
        return {"enrolment": study_links.renew(store, "enrolment")}
    if settings.add is not None:
        return dict(study_links.add_links(store, settings.add))
    return dict(study_links.issue_links(store, settings.renew))


def serve(settings: StudyServeSettings) -> None:
    """Serve the pages until SIGINT or SIGTERM."""
    from darc.study.app import make_app
    from darc.web.logs import log_as_json
    from darc.web.server import listen
    from darc.web.server import serve as serve_app
    from darc.web.trusted_proxies import TrustedProxies

    proxies = TrustedProxies.parse(settings.trusted_proxies)
    store = open_store(_database(settings))
    address = StudyAddress.of(store)
    host = settings.host or "127.0.0.1"
    port = settings.port
    if port is None:
        port = address.local_port
    socket = listen(host, port)
    port = socket.getsockname()[1]
    if settings.port is not None:
        # A port of 0 stands for one that the system has chosen.
        settings = settings.model_copy(update={"port": port})
    new_address = address.changed(settings, settings.host)
    base = new_address.keep(store)
    if address.is_known and base != address.base:
        say(f"links made before begin with {address.base}; replace that by {base}")
    app = make_app(
        store,
        new_address.root_path,
        new_address.origin,
        settings.visitor_rate,
        host,
        settings.allowed_hosts,
        proxies,
        settings.enrolment_rate,
    )
    log_as_json(settings.log_level)
    say(
        f"serving the study on http://{host}:{port}{new_address.root_path}; links begin with {base}"
    )
    limits = ArrivalSettings(
        max_header=settings.max_header,
        header_timeout=settings.header_timeout,
        body_timeout=settings.body_timeout,
    )
    serve_app(app, socket, settings.grace, limits)


def status(settings: StatusSettings) -> None:
    """Print where the study stands."""
    with open_store(_database(settings)) as store:
        study_status = read_status(store)
    if settings.as_json:
        print_json(asdict(study_status))
        return
    state = "open"
    if study_status.closed:
        state = "closed"
    items = len(study_status.items)
    print(
        f"{state}: {study_status.valid_ratings} of {study_status.wanted_ratings} valid ratings, "
        f"{study_status.complete} of {items} items complete"
    )
    agreements = {"all ratings": study_status.before, "after exclusion": study_status.after}
    for name, alpha in agreements.items():
        if alpha.ratings:
            print(f"Krippendorff's alpha, {name} ({alpha.ratings}): {alpha.words}")
    if study_status.adaptive is not None:
        print("\n".join(study_status.adaptive.sentences))
        print()
        _print_prompts(study_status.adaptive.prompts)
    print()
    _print_people(study_status.people)


def review(settings: ReviewSettings) -> None:
    """Decide on an annotator, or list those who are flagged or excluded."""
    with open_store(_database(settings)) as store:
        if settings.exclude:
            exclusions.exclude_by_name(store, settings.exclude, settings.reason)
            say(f"{settings.exclude} is excluded; their slots are open again")
        elif settings.reinstate:
            restored, surplus = exclusions.reinstate(store, settings.reinstate)
            say(f"{restored} ratings count again, {surplus} found their slots filled")
        elif settings.clear_flags:
            exclusions.clear(store, settings.clear_flags)
        elif settings.log:
            _print_log(store)
        else:
            _print_flagged(store)


def _print_log(store: Store) -> None:
    """Print every decision that was made about annotators."""
    with store.read() as connection:
        for row in log_lines(connection):
            time = datetime.fromtimestamp(row["at"], UTC).strftime("%Y-%m-%d %H:%M:%S")
            parts = (time, row["actor"], row["action"], row["subject"], row["detail"])
            print("  ".join(part for part in parts if part))


def _print_flagged(store: Store) -> None:
    """Print the annotators who are flagged or excluded."""
    listed = [
        person
        for person in read_status(store).people
        if person.state == "excluded" or person.flagged
    ]
    if listed:
        _print_people(listed)
    else:
        print("nobody is flagged or excluded")


def close(settings: CloseSettings) -> None:
    """Close the study."""
    with open_store(_database(settings)) as store:
        lacking = close_study(store, force=settings.force)
        say(f"closed; {lacking} of {len(store.unit_ids['item'])} items lack ratings")


def export(settings: StudyExportSettings) -> None:
    """Write the files, and print their names."""
    with open_store(_database(settings)) as store:
        for path in write_files(store, settings.folder, unblind=settings.unblind):
            print(path)


def erase(settings: EraseSettings) -> None:
    """Delete a person and their answers."""
    with open_store(_database(settings)) as store:
        count = people.erase(store, settings.rater)
    say(f"{settings.rater} is deleted, with {count} answers")


def backup(settings: BackupSettings) -> None:
    """Copy the database."""
    with open_store(_database(settings)) as store:
        copy_database(store, settings.file)
    say(f"wrote {settings.file}")


def _database(settings: DatabaseSettings) -> str:
    """Where the study is stored."""
    return settings.database or os.environ.get(DATABASE_VARIABLE) or DEFAULT_DATABASE


def _text_from_template(settings: InitSettings) -> str:
    """The text of a new study.toml."""
    if settings.file.exists():
        raise InputError(f"{settings.file} exists already", "leave --items out to use it")
    annotators: int | str = settings.annotators
    if settings.annotators.isdecimal():
        annotators = int(settings.annotators)
    elif annotators != "open":
        raise InputError(f"--annotators is {annotators!r}", "give a number, or: open")
    template = _template_name(settings)
    folder = settings.file.resolve().parent
    items = [os.path.relpath(Path(name).resolve(), folder) for name in settings.items]
    design = "adaptive" if settings.adaptive else "fixed"
    return study_toml(items, template, settings.item_ratings, annotators, settings.seed, design)


def _template_name(settings: InitSettings) -> str:
    """The template that is asked for by its name or by its mode."""
    template = settings.template
    if template is None:
        template = "helpfulness"
        if settings.mode == "pairwise":
            template = "pairwise"
    mode = STUDIES[template][1]
    if settings.mode not in (None, mode):
        raise InputError(
            f"--template {template} is {mode}, not {settings.mode}", "leave --mode out"
        )
    return template


def _print_links(tokens: Mapping[str, str], base: str) -> None:
    """Print links as CSV."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("rater_id", "link"))
    for name, token in tokens.items():
        writer.writerow((name, f"{base}{_PATHS.get(name, _ANNOTATOR_PATH)}{token}"))


def _print_prompts(prompts: Sequence[PromptStatus]) -> None:
    """Print a table of the prompts of an adaptive study."""
    header = ("prompt", "ratings", "fixed design", "certainty", "next wave")
    rows = []
    for prompt in prompts:
        certainty = "-"
        if prompt.certainty is not None:
            certainty = f"{prompt.certainty:.0%}"
        next_wave = str(prompt.next_wave)
        if prompt.finished:
            next_wave = "needs no more"
        ratings = f"{prompt.valid} of {prompt.wanted}"
        rows.append(
            (prompt.prompt_id or prompt.number, ratings, prompt.fixed, certainty, next_wave)
        )
    print_table(header, rows, max_cell_length=100)


def _print_people(listed: Sequence[PersonStatus]) -> None:
    """Print a table of annotators."""
    header = ("rater", "state", "items", "seconds", "attention failed", "gold failed", "flags")
    print_table(header, [_person_row(person) for person in listed], max_cell_length=100)


def _person_row(person: PersonStatus) -> tuple[object, ...]:
    """What the table says about one annotator."""
    care = person.care
    state: str = person.state
    if person.reason:
        state += f": {person.reason}"
    flags = ", ".join(care.flags)
    if person.cleared:
        flags += " (looked at)"
    return (
        person.name,
        state,
        care.items,
        care.median_seconds,
        f"{care.attention_failed} of {care.attention}",
        f"{care.gold_failed} of {care.gold}",
        flags,
    )
