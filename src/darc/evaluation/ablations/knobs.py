"""Sweeps over beta, epsilon and the other knobs of rules, all decided from the same halves."""

from collections.abc import Sequence
from dataclasses import dataclass

from darc.engine.deciding import parse_rules
from darc.evaluation.frame import Frame
from darc.evaluation.methods import BASELINE
from darc.evaluation.source import Source
from darc.evaluation.split import Halves, choose_split
from darc.evaluation.study import Settings, Study, study_of
from darc.evaluation.tables.common import compared, compared_tail, mean_of, prompts_in, tail_of

LEVELS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
SHARES = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
COLUMNS = ("source", "knob", "setting", "method", "subset", "judged_by", "prompts")
HELD_OUT = "the half held out"


@dataclass(frozen=True)
class Sweep:
    """The settings of one knob of one rule."""

    rule: str
    knob: str
    settings: tuple[float, ...]

    def label(self, setting: float) -> str:
        """How the rule with this setting is written."""
        return f"{self.rule}:{self.knob}={setting:g}"


ABLATIONS = (Sweep("epsilon", "beta", LEVELS), Sweep("epsilon", "epsilon", LEVELS))
FRONTIER = (
    *ABLATIONS,
    Sweep("entropic", "beta", LEVELS),
    Sweep("tau", "quantile", SHARES),
    Sweep("penalty", "lam", LEVELS),
    Sweep("lcb", "lam", LEVELS),
    Sweep("cvar", "alpha", SHARES),
)


def sweep_study(
    source: Source, halves: Sequence[Halves], settings: Settings, sweeps: Sequence[Sweep]
) -> Study:
    """One study whose methods are all settings of all sweeps."""
    labels = [sweep.label(setting) for sweep in sweeps for setting in sweep.settings]
    specs = parse_rules([BASELINE, *dict.fromkeys(labels)], {}, settings.beta, settings.gamma)
    return study_of(source, halves, settings, specs, choose_split(source, settings.split))


def frontier_table(study: Study, sweeps: Sequence[Sweep] = FRONTIER) -> Frame:
    """Reward and risk of every setting, and of Best-of-K."""
    rows = []
    for subset, among in study.subsets.items():
        columns = [mean_of(v, among) for v in (study.reward, study.risk, study.tradeoff)]
        columns.append(tail_of(study.outcome, among, study.settings.tail))
        for rule, knob, setting, at in _places(study, sweeps):
            head = (study.source.name, rule, knob, setting, subset)
            rows.append((*head, *(column[at] for column in columns)))
    return Frame.of(
        "frontier",
        "Risk and reward as each knob moves",
        ("source", "method", "knob", "setting", "subset", "reward", "risk", "tradeoff", "cvar"),
        rows,
    )


def ablation_table(study: Study, sweeps: Sequence[Sweep] = ABLATIONS) -> Frame:
    """Gains of every setting over Best-of-K, with 95 % intervals."""
    rows: list[tuple[object, ...]] = []
    study = study.only([at for _, _, _, at in _places(study, sweeps)])
    for subset, among in study.subsets.items():
        tradeoff, worst = compared(study, study.tradeoff, among), compared_tail(study, among)
        for rule, knob, setting, at in _places(study, sweeps):
            if at > 0:
                head = (study.source.name, knob, setting, rule, subset, HELD_OUT)
                rows.append((*head, prompts_in(among), *tradeoff.cells(at), *worst.cells(at)))
    return ablation_frame(rows, study.settings.tail_name)


def ablation_frame(rows: Sequence[tuple[object, ...]], tail: str, note: str = "") -> Frame:
    """The frame that all ablations share."""
    changes = [
        f"{part}{name}" for name in ("tradeoff", tail) for part in ("delta_", "low_", "high_")
    ]
    title = "Gains over Best-of-K as one knob moves"
    return Frame.of("ablations", title, (*COLUMNS, *changes), rows, note)


def _places(study: Study, sweeps: Sequence[Sweep]) -> list[tuple[str, str, float | None, int]]:
    """Rule, knob, setting and place of every setting that was run, Best-of-K first."""
    places: list[tuple[str, str, float | None, int]] = [(BASELINE, "", None, 0)]
    for sweep in sweeps:
        places += [
            (sweep.rule, sweep.knob, setting, study.methods.index(sweep.label(setting)))
            for setting in sweep.settings
            if sweep.label(setting) in study.methods
        ]
    return places
