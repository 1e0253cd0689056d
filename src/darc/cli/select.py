"""`darc select`: choose among rated candidates."""

import shutil
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any, TextIO, cast

from darc.cli.choosing import note_wording, rule_parameters, standards_of
from darc.cli.commands import Command
from darc.cli.decision_view import unhappy_definition
from darc.cli.output import draw, progress, say
from darc.cli.select_table import FirstRows
from darc.cli.sources import columns_of, read_calibrations
from darc.settings.method import MethodSettings
from darc.settings.select import SelectSettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from darc.cli.decision_rows import Detail
    from darc.cli.pictured_prompt import PicturedPrompt
    from darc.decide.method import Method
    from darc.decide.standards import Standards
    from darc.ratings import RatingTable
    from darc.ratings.candidate_judgements import CandidateJudgements

_JSON_ENDINGS = (".json", ".jsonl", ".ndjson")
# How many bytes of results are held in memory before they go to a temporary file.
_SPOOL_BYTES = 8_000_000


def run(settings: SelectSettings) -> None:
    """Read the ratings, decide, and write the choices."""
    from darc.cli.decision_rows import Detail
    from darc.ratings.decisions import standards_for

    methods = _methods(settings)
    standards = _standards(settings)
    detail = Detail(settings.explain, settings.bounds, settings.delta, settings.flip)
    side = _read_side(settings)
    with ExitStack() as stack:
        table = stack.enter_context(_read_table(settings))
        for note in table.notes:
            say(f"note: {note}")
        standards = standards_for(table, standards)
        methods = [replace(method, standards=standards) for method in methods]
        if table.kind == "rewrite" and _sets_caution(methods, settings):
            note_wording("rewrite")
        output = _Output(settings, methods, detail, standards)
        output.open(stack, table.extra_columns)
        _decide(table, methods, side, settings, output)
        output.finish()


class _Output:
    """Where choices go: a file, standard output, a picture."""

    def __init__(
        self,
        settings: SelectSettings,
        methods: "Sequence[Method]",
        detail: "Detail",
        standards: "Standards",
    ) -> None:
        from darc.cli.decision_summary import Summary
        from darc.cli.pictured_prompt import PicturedPrompt

        self._settings = settings
        self._detail = detail
        self._standards = standards
        self._summary: Summary = Summary(methods)
        self._pictured: PicturedPrompt = PicturedPrompt(settings.prompt)
        self._table: FirstRows | None = None
        self._spool: Any = None
        self._writers: list[Any] = []

    @property
    def _is_json(self) -> bool:
        """Whether rows are JSON lines and not CSV."""
        out = self._settings.out
        return self._settings.as_json or (out is not None and out.suffix.lower() in _JSON_ENDINGS)

    def open(self, stack: ExitStack, extra_columns: Sequence[str]) -> None:
        """Open the files that rows are written to."""
        from darc.cli.decision_rows import CsvRows, JsonRows
        from darc.files import atomic_writer

        rows_class: type[CsvRows | JsonRows] = CsvRows
        if self._is_json:
            rows_class = JsonRows
        if self._settings.out is not None:
            file = stack.enter_context(atomic_writer(self._settings.out))
            self._writers.append(rows_class(file, extra_columns, self._detail))
        if self._settings.as_json or self._settings.csv:
            # Standard output gets the results when all of them are there.
            self._spool = stack.enter_context(_temporary_file())
            self._writers.append(
                rows_class(cast("TextIO", self._spool), extra_columns, self._detail)
            )
        elif self._settings.out is None:
            self._table = FirstRows(
                self._settings.limit, self._detail, self._standards, self._settings.details
            )
            self._writers.append(self._table)

    def add(self, decided: Any) -> None:
        """Take the decisions on a batch of prompts."""
        self._summary.add(decided)
        self._pictured.add(decided)
        for writer in self._writers:
            writer.add(decided)

    def finish(self) -> None:
        """Draw the picture, and print what is printed at the end."""
        self._pictured.check()
        if self._summary.known_scale and self._table is None and not self._is_json:
            say(unhappy_definition(self._standards))
        prompt_id = self._pictured.prompt_id
        texts = _texts(self._settings.source, prompt_id)
        draw(
            self._settings.plot,
            lambda: _figure(self._pictured, texts),
            f"drew prompt {prompt_id!r} to",
        )
        if self._spool is not None:
            self._spool.seek(0)
            shutil.copyfileobj(self._spool, sys.stdout)
        elif self._table is not None:
            self._table.print(self._summary, self._pictured, texts)


def _temporary_file() -> Any:
    """A file for results, in memory while they are few."""
    return SpooledTemporaryFile(_SPOOL_BYTES, "w+", encoding="utf-8", newline="")


def _methods(settings: SelectSettings) -> "list[Method]":
    """The rules with everything that their decisions depend on but the standards."""
    from darc.decide.method import parse_methods

    usual_rule = MethodSettings.model_fields["rule"].default
    rules = settings.rules or (usual_rule,)
    parameters = rule_parameters(settings.caution)
    group_parameters = settings.group_parameters
    if group_parameters:
        # Rules that were named are compared with it.
        rules = (*settings.rules, "for_groups")
        parameters |= group_parameters
    return parse_methods(
        rules,
        parameters,
        calibrations=read_calibrations(settings.calibration),
        beta=settings.beta,
        gamma=settings.gamma,
        normalize=settings.normalize,
        min_samples=settings.min_samples,
        seed=settings.seed,
    )


def _standards(settings: SelectSettings) -> "Standards":
    """What counts as a good rating; the bounds of the certificate are also a scale."""
    from darc.decide.standards import parse_scale

    standards = standards_of(settings)
    if standards.scale is None and settings.bounds is not None:
        return replace(standards, scale=parse_scale(settings.bounds))
    return standards


def _read_side(settings: SelectSettings) -> Any:
    """The side inputs of a file, None without one."""
    from darc.ratings.side_table import read_side_table

    if settings.side_file is None:
        return None
    return read_side_table(settings.side_file)


def _read_judgements(settings: SelectSettings) -> "CandidateJudgements | None":
    """The judgements of the candidates, None without any."""
    if not settings.judges:
        return None
    from darc.analysis.judge_sources import load_judges

    return load_judges(settings.judges, Path(settings.source))


def _read_table(settings: SelectSettings) -> "RatingTable":
    """Read the ratings into a table, which the caller closes."""
    from darc.ratings import read_ratings

    if settings.source == "-" and sys.stdin.isatty():
        say("waiting for ratings on standard input (end with Ctrl-D); or name a file")
    with progress(f"reading {settings.source}", "B", scale=True) as report:
        return read_ratings(
            settings.source,
            columns=columns_of(settings),
            layout=settings.layout,
            format=settings.input_format,
            raters=settings.rater_columns or None,
            scalarize=settings.scalarize,
            progress=report,
        )


def _decide(
    table: "RatingTable",
    methods: "Sequence[Method]",
    side: Any,
    settings: SelectSettings,
    output: _Output,
) -> None:
    """Decide on all prompts, batch by batch."""
    from darc.ratings.decisions import decide_table

    with progress("deciding", " prompts") as report:
        batches = decide_table(
            table,
            methods,
            side=side,
            judgements=_read_judgements(settings),
            system=settings.system,
            progress=report,
        )
        for decided in batches:
            output.add(decided)


def _sets_caution(methods: "Sequence[Method]", settings: SelectSettings) -> bool:
    """Whether a rule has another caution than the usual one."""
    from darc.decide.caution import MEDIUM

    if settings.caution is not None:
        return True
    return any(method.caution not in (None, MEDIUM) for method in methods)


def _texts(source: str, prompt_id: str | None) -> dict[str, str]:
    """The answers to a prompt by name, with the question under "", from beside the ratings."""
    from darc.ratings.texts import read_texts, texts_beside

    if prompt_id is None:
        return {}
    path = texts_beside(Path(source))
    if path is None:
        return {}
    texts: dict[str, str] = {}
    for (prompt, name), (question, answer) in read_texts(path).items():
        if prompt == prompt_id:
            texts[name] = answer
            if question:
                texts.setdefault("", question)
    return texts


def _figure(pictured: "PicturedPrompt", texts: dict[str, str]) -> "Figure":
    """The picture of the decisions on one prompt."""
    from darc.decide.pictures import dot_picture
    from darc.views import draw_ratings

    decisions = pictured.decisions
    assert decisions is not None
    title = texts.get("") or str(pictured.prompt_id)
    return draw_ratings(dot_picture(decisions[-1], texts, others=decisions[:-1], title=title))


COMMAND = Command(SelectSettings, run)
