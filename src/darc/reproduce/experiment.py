"""The configuration of an experiment: models, prompts, rules and the list of tables."""

from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from darc.errors import InputError, UnknownName
from darc.settings.choices import Acceptance
from darc.settings.evaluate import JudgingSettings
from darc.settings.generation import GenerationSettings
from darc.settings.method import RiskSettings
from darc.settings.model import SettingsModel, same_option
from darc.settings.ratings import BootstrapSettings, HalvesSettings, TradeoffSettings
from darc.settings.sampling import RewriteSettings
from darc.settings.toml_file import read_toml
from darc.settings.train import LabelNoiseSettings, RecipeSettings
from darc.settings.validation import validate_settings

EXPERIMENTS = Path(__file__).with_name("experiments")
#: The source of a generator's own pool, before any training.
BASE = "Base"
#: The source that decodes with a reward.
DEAL = "DeAL"
#: How generators begin that are not names of the hub or folders.
_GENERATOR_NAMES = ("embedded", "openai:", "transformers:", "given:")
_SERVER = "openai:"
#: How scorers begin that are not names of the hub or folders.
_SCORER_NAMES = ("http:", "https:", "python:")
_TRANSFORMERS = "transformers:"

Family = Literal["style", "targeted", "hybrid"]


class SamplingConfig(SettingsModel):
    """How candidates are sampled."""

    k: int = same_option(GenerationSettings, "k", default=16)
    temperature: float = same_option(GenerationSettings, "temperature")
    top_p: float = same_option(GenerationSettings, "top_p")
    max_tokens: int = same_option(GenerationSettings, "max_tokens")


class RewritesConfig(SettingsModel):
    """How candidates are rewritten."""

    #: A rewriter as `darc rewriters` lists them; "llm" rewrites with the generator itself.
    rewriter: str = "llm"
    n_aug: int = same_option(RewriteSettings, "n_aug")
    max_attempts: int | None = same_option(RewriteSettings, "max_attempts")
    #: Which checks a rewrite must pass; the paper's for the rewriter "llm".
    acceptance: Acceptance | None = same_option(RewriteSettings, "acceptance")
    #: The family of the main tables.
    family: Family = "style"
    #: The families that are compared.
    families: tuple[Family, ...] = ("style", "targeted", "hybrid")


class GeneratorConfig(SettingsModel):
    """A model that writes the candidates."""

    name: str
    #: A hub name, a folder, or a generator such as openai:MODEL@URL.
    model: str
    #: The weights behind a server, for log-likelihoods, DeAL and training; empty if there are none.
    weights: str = ""
    #: The benchmarks that it answers.
    benchmarks: tuple[str, ...]
    #: The names of the reward models, that of the main tables first.
    scorers: tuple[str, ...]
    #: Replaces the rewriter of all generators.
    rewriter: str = ""
    #: Whether it is in the main table, with DeAL, trained policies and side inputs.
    full: bool = True
    #: The paper's model whose numbers stand beside its own, such as Llama.
    paper: str = ""
    #: The size of its download, if it is known.
    download_bytes: int = Field(default=0, ge=0)

    @property
    def is_server(self) -> bool:
        """Whether a server does the work."""
        return self.model.startswith(_SERVER)

    @property
    def spec(self) -> str:
        """The generator as `darc generators` lists them."""
        if self.model.startswith(_GENERATOR_NAMES):
            return self.model
        return _TRANSFORMERS + self.model

    @property
    def weights_name(self) -> str:
        """The weights that can be loaded here, or empty."""
        if self.weights:
            return self.weights
        if self.spec.startswith(_TRANSFORMERS):
            return self.spec.removeprefix(_TRANSFORMERS)
        return ""

    @property
    def chat_model(self) -> str:
        """The model as the rewriter `llm` names it."""
        return self.spec.removeprefix(_SERVER)


class BenchmarkConfig(SettingsModel):
    """A file of prompts."""

    name: str
    #: A file, or an https address from which it is downloaded.
    prompts: str
    #: How many questions it has, and turns in all, for the plan.
    turns: int = Field(default=0, ge=0)
    #: The paper's benchmark whose numbers stand beside its own.
    paper: str = ""
    #: Draws only so many questions.
    sample: int | None = Field(default=None, ge=1)


class RewardModelConfig(SettingsModel):
    """A reward model."""

    name: str
    #: A hub name or a folder, or a scorer such as http:URL.
    model: str
    max_length: int = Field(default=1024, ge=8)
    batch_size: int = Field(default=16, ge=1)
    #: Rewards are clipped to this distance from 0 before any statistic.
    clip: float = Field(default=10.0, gt=0)
    download_bytes: int = Field(default=0, ge=0)

    @property
    def is_local(self) -> bool:
        """Whether its weights are loaded here."""
        return not self.model.startswith(_SCORER_NAMES)

    @property
    def spec(self) -> str:
        """The scorer as `darc scorers` lists them."""
        if not self.is_local:
            return f"{self.model},name={self.name}"
        return f"reward:{self.model},{self._options},low={-self.clip:g},high={self.clip:g}"

    @property
    def _options(self) -> str:
        return f"name={self.name},max_length={self.max_length},batch_size={self.batch_size}"


class DropoutConfig(SettingsModel):
    """MC dropout of the main reward model."""

    passes: int = Field(default=8, ge=1)
    #: The dropout rate of models that were trained without any; 0 keeps the model's own.
    rate: float = Field(default=0.1, ge=0, lt=1)


class CautionConfig(SettingsModel):
    """The model of atypical answers."""

    #: The pretrained encoder; empty for a logistic model of embedded features.
    encoder: str = ""
    max_epochs: int = Field(default=5, ge=1)
    download_bytes: int = Field(default=0, ge=0)


class DealConfig(SettingsModel):
    """DeAL: decoding by lookahead and reward."""

    k: int = Field(default=8, ge=1)
    lookahead: int = Field(default=16, ge=0)
    g: float = 0.05
    max_tokens: int = Field(default=512, ge=1)
    reward_tokens: int = Field(default=256, ge=2)


class PolicyConfig(SettingsModel):
    """A policy trained from preference pairs."""

    name: str
    loss: Literal["cdpo", "sup", "unbiased"]
    label_noise: float = same_option(LabelNoiseSettings, "label_noise")


class TrainingConfig(SettingsModel):
    """What policies and the model of atypical answers are trained on, and how."""

    #: Preference pairs as `darc train` reads them; empty makes them of the scores of the pool.
    data: str = ""
    preset: Literal["paper", "cpu-small"] = "paper"
    #: Numbers of the recipe that differ from the preset's.
    recipe: dict[str, float | int | str] = Field(default_factory=dict)
    held_out: float = Field(default=0.1, ge=0, lt=1)


class MethodConfig(SettingsModel):
    """A row of the tables: a rule applied to the pool of a source."""

    label: str
    type: Literal["Inference", "Training"] = "Inference"
    rule: str = "mean"
    #: Base, DeAL or the name of a policy.
    source: str = BASE
    #: The tables that have this row.
    tables: tuple[str, ...] = ("main", "human")


class EvaluationConfig(SettingsModel):
    """How choices are judged."""

    lam: float = same_option(TradeoffSettings, "lam")
    sigma: Literal["evaluation", "selection"] = same_option(
        JudgingSettings, "sigma", default="selection"
    )
    beta: float = same_option(RiskSettings, "beta")
    splits: int = same_option(HalvesSettings, "splits")
    draws: int = same_option(BootstrapSettings, "draws")


class HumanConfig(SettingsModel):
    """Ratings of people."""

    generator: str
    benchmark: str
    #: A file of ratings for each source whose candidates people rated; without files the tables
    #: that need people are left out.
    ratings: dict[str, Path] = Field(default_factory=dict)
    #: A file of prompt ids, the stress slice of the tables of families.
    stress: Path | None = None
    #: Draws ratings at random in place of people's, for a rehearsal.
    simulated: bool = False

    @property
    def files(self) -> list[Path]:
        """The files that it names."""
        paths = list(self.ratings.values())
        if self.stress is not None:
            paths.append(self.stress)
        return paths


class LatencyConfig(SettingsModel):
    """The measured runs of the latency table."""

    generator: str
    benchmark: str
    prompts: int = Field(default=50, ge=1)
    n_aug: tuple[int, ...] = (0, 4, 8, 16)


class Experiment(SettingsModel):
    """Everything that the tables depend on."""

    name: str
    #: What readers of the page must know.
    note: str = ""
    seed: int = Field(default=0, ge=0)
    sampling: SamplingConfig = SamplingConfig()
    rewrites: RewritesConfig = RewritesConfig()
    generators: tuple[GeneratorConfig, ...]
    benchmarks: tuple[BenchmarkConfig, ...]
    reward_models: tuple[RewardModelConfig, ...]
    dropout: DropoutConfig | None = None
    caution: CautionConfig | None = None
    deal: DealConfig | None = None
    training: TrainingConfig | None = None
    policies: tuple[PolicyConfig, ...] = ()
    methods: tuple[MethodConfig, ...]
    evaluation: EvaluationConfig = EvaluationConfig()
    human: HumanConfig | None = None
    latency: LatencyConfig | None = None
    #: The tables and figures to make; all of them if empty.
    tables: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check_names(self) -> "Experiment":
        """Refuse names that nothing has."""
        benchmarks = [benchmark.name for benchmark in self.benchmarks]
        scorers = [model.name for model in self.reward_models]
        generators = [generator.name for generator in self.generators]
        sources = [BASE, DEAL, *(policy.name for policy in self.policies)]
        for generator in self.generators:
            _check_all("benchmark", generator.benchmarks, benchmarks)
            _check_all("reward model", generator.scorers, scorers)
        _check_all("source", [method.source for method in self.methods], sources)
        for part in (self.human, self.latency):
            if part is not None:
                _check_all("generator", [part.generator], generators)
                _check_all("benchmark", [part.benchmark], benchmarks)
        if self.human is not None and self.human.ratings and BASE not in self.human.ratings:
            raise ValueError(f"the ratings of {BASE} are missing")
        _check_all("source", list(self.human.ratings) if self.human else [], sources)
        if self.policies and self.training is None:
            raise ValueError("policies need a section [training]")
        return self

    @cached_property
    def _generators_by_name(self) -> dict[str, GeneratorConfig]:
        return {generator.name: generator for generator in self.generators}

    def generator(self, name: str) -> GeneratorConfig:
        """The generator of a name."""
        return self._generators_by_name[name]

    def benchmark(self, name: str) -> BenchmarkConfig:
        """The benchmark of a name."""
        return next(benchmark for benchmark in self.benchmarks if benchmark.name == name)

    def reward_model(self, name: str) -> RewardModelConfig:
        """The reward model of a name."""
        return next(model for model in self.reward_models if model.name == name)

    @property
    def has_ratings(self) -> bool:
        """Whether there are ratings of people, or simulated ones."""
        return self.human is not None and (bool(self.human.ratings) or self.human.simulated)

    @property
    def rated_cell(self) -> tuple[str, str]:
        """The generator and benchmark that people rate, the first ones if none are named."""
        if self.human is not None:
            return self.human.generator, self.human.benchmark
        first = self.generators[0]
        return first.name, first.benchmarks[0]

    def methods_of(self, table: str) -> list[MethodConfig]:
        """The rows of a table."""
        return [method for method in self.methods if table in method.tables]


def _check_all(kind: str, names: tuple[str, ...] | list[str], known: list[str]) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"there is no {kind} {name!r}")


def read_experiment(text: str) -> Experiment:
    """Read an experiment.

    Args:
        text: The path of a TOML file, or the name of an experiment that comes with DARC.

    Returns:
        The experiment; its relative paths are those of the folder of the file.

    Raises:
        UnknownName: There is no such file or experiment.
        InputError: The file has an unknown key, or a value that is not allowed.
    """
    path = Path(text)
    if not path.is_file():
        shipped = {file.stem: file for file in EXPERIMENTS.glob("*.toml")}
        if path.suffix:
            raise InputError(f"there is no file {text}", "check the path, or write paper")
        if text not in shipped:
            raise UnknownName("experiment", text, shipped)
        path = shipped[text]
    experiment = validate_settings(Experiment, read_toml(path), str(path))
    return _with_paths_from(experiment, path.parent)


def _with_paths_from(experiment: Experiment, folder: Path) -> Experiment:
    """The experiment with files named as seen from the folder of its own file."""
    benchmarks = tuple(
        benchmark.model_copy(update={"prompts": _file_from(folder, benchmark.prompts)})
        for benchmark in experiment.benchmarks
    )
    changes: dict[str, object] = {"benchmarks": benchmarks}
    if experiment.human is not None:
        ratings = {name: folder / file for name, file in experiment.human.ratings.items()}
        changes["human"] = experiment.human.model_copy(update={"ratings": ratings})
    if experiment.training is not None:
        data = _file_from(folder, experiment.training.data)
        changes["training"] = experiment.training.model_copy(update={"data": data})
    return experiment.model_copy(update=changes)


def _file_from(folder: Path, text: str) -> str:
    """A file as seen from a folder; anything that is not a file there as it is."""
    path = folder / text
    if text and path.is_file():
        return str(path)
    return text


def recipe_names() -> set[str]:
    """The numbers of a training recipe that an experiment may change."""
    return set(RecipeSettings.model_fields)
