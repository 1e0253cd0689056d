"""The rewriter, the scorers and the panel of an engine as users name them."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field, InstanceOf, model_validator

from darc.engine.side_inputs import SideInputMaker
from darc.engine.surface_scorers import SURFACE_SCORERS
from darc.engine.tools import Tools, similarity_of
from darc.errors import InputError
from darc.models.completion import ChatModel
from darc.models.embeddings import Embeddings, MiniLM, installed
from darc.parts.ready import ReadyRewriter, ReadyScorer, as_ready_rewriter, as_ready_scorer
from darc.parts.rewriters import Rewriter
from darc.parts.rewriters.filters import Entities, Similarity
from darc.parts.scorers.base import Scorer
from darc.parts.scorers.panel import Panel
from darc.registry import rewriters, scorers
from darc.settings.sampling import RewriteSettings

# What the option `embeddings` of a scorer calls each embedding model.
_EMBEDDING_OPTIONS = {Embeddings.name: "static", MiniLM.name: "minilm"}


class Parts(RewriteSettings):
    """What turns answers into numbers, by name.

    A part that is given as an object leaves its name here.
    """

    #: The scorers; none with a panel.
    scorers: tuple[str, ...] = SURFACE_SCORERS
    #: The raters whose grades are the samples; None where rewrites are.
    panel: InstanceOf[Panel] | None = None
    seed: int = 0
    #: Candidates with fewer samples are left out where another has as many.
    min_samples: int | None = None
    #: The scorers of side inputs, as `--side` takes them.
    side: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _replace_objects_by_names(cls, options: dict[str, Any]) -> dict[str, Any]:
        names = {}
        for key, part in options.items():
            name = _name_of(part)
            if name is not None and not isinstance(name, SideInputMaker):
                names[key] = name
        if "panel" in names:
            names["scorers"] = ()
        return names

    def tools(
        self,
        rewriter: str | Rewriter = "",
        given_scorers: Sequence[str | Scorer] = (),
        judge_model: ChatModel | None = None,
    ) -> Tools:
        """Make the tools; models are loaded at their first use.

        Args:
            rewriter: A rewriter to use in place of the named one.
            given_scorers: Scorers to use in place of the named ones.
            judge_model: The model of raters that name none.

        Returns:
            The tools.

        Raises:
            InputError: If there would be nothing to score.
        """
        if self.panel is not None:
            judges = self.panel.judges(judge_model, self.seed)
            return Tools(
                rewriter=_ready_rewriter("rules"),
                scorers=[as_ready_scorer(judge) for judge in judges],
                panel=self.panel,
                n_aug=self.n_aug,
                seed=self.seed,
            )
        if not (self.n_aug or self.include_original):
            raise InputError(
                "with neither the original nor a rewrite there is nothing to score",
                "give an n_aug of 1 or more, or include the original",
            )
        return Tools(
            rewriter=_ready_rewriter(rewriter or self.rewriter),
            scorers=[_ready_scorer(scorer) for scorer in given_scorers or self.scorers],
            n_aug=self.n_aug,
            family=self.family,
            seed=self.seed,
            max_attempts=self.max_attempts,
            similarity=self._similarity(),
            find_entities=self._entity_finder(),
            acceptance=self.acceptance,
        )

    def with_fixed_embeddings(self, tools: Tools) -> "Parts":
        """The same parts with the embeddings that the tools use, whatever is installed later.

        Args:
            tools: The tools that were made of the parts.
        """
        names = []
        for name, scorer in zip(self.scorers, tools.scorers, strict=True):
            if name == "relevance":
                name = f"{name},embeddings={_EMBEDDING_OPTIONS[scorer.embeddings]}"
            names.append(name)
        return self.model_copy(update={"scorers": tuple(names)})

    def _similarity(self) -> Similarity | None:
        if self.guard and installed():
            return similarity_of(Embeddings())
        return None

    def _entity_finder(self) -> Entities | None:
        if not self.entities:
            return None
        from darc.parts.rewriters.ner import entity_finder

        return entity_finder(self.entities)


def _name_of(part: Any) -> Any:
    """The name of a part that is given as an object, or its text as it is."""
    if isinstance(part, list | tuple):
        return [_name_of(item) for item in part]
    return getattr(part, "name", part)


def _ready_rewriter(rewriter: str | Rewriter) -> ReadyRewriter:
    if isinstance(rewriter, str):
        return as_ready_rewriter(rewriters.make(rewriter))
    return as_ready_rewriter(rewriter)


def _ready_scorer(scorer: str | Scorer) -> ReadyScorer:
    if isinstance(scorer, str):
        return as_ready_scorer(scorers.make(scorer))
    return as_ready_scorer(scorer)
