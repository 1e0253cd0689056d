"""Table 1: reward, risk, tradeoff and length of every method."""

from darc.evaluation.frame import Frame
from darc.evaluation.study import Study
from darc.evaluation.tables.common import described, mean_of, prompts_in, tally

COLUMNS = (
    "source",
    "generator",
    "subset",
    "method",
    "prompts",
    "reward",
    "risk",
    "tradeoff",
    "length",
    "length_unit",
    "win",
    "tie",
    "loss",
)


def main_table(study: Study) -> Frame:
    """Means over prompts and splits; win, tie and loss are prompts against Best-of-K."""
    rows = []
    source = study.source
    for subset, among in study.subsets.items():
        arrays = (study.reward, study.risk, study.tradeoff, study.length)
        numbers = [mean_of(values, among) for values in arrays]
        games = tally(study.signs, among)
        for a, method in enumerate(study.methods):
            cells = [float(column[a]) for column in numbers]
            head = (source.name, source.generator, subset, method, prompts_in(among))
            rows.append((*head, *cells, source.length_unit, *games[a]))
    return Frame.of("main", "Reward, risk and tradeoff", COLUMNS, rows, described(study))
