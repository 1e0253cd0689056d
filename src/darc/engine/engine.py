"""The engine: prompts become candidates, candidates become samples, samples become a decision."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, TypeVar

from pydantic import BaseModel

import darc.parts.generators
import darc.parts.scorers  # noqa: F401  (registers what users name)
from darc.background import BackgroundLoop
from darc.closing import Closing
from darc.decide.method import Method, as_method
from darc.engine.adaptive_panel import check_adaptive
from darc.engine.copies import copy_flags, merge_copies
from darc.engine.cost import CallCounts, Clock
from darc.engine.decision_search import DecisionSearch, Ranking
from darc.engine.engine_options import parse_engine_options
from darc.engine.failures import raise_cause
from darc.engine.flags import FEWER_CANDIDATES
from darc.engine.generation import CandidateWriter, WrittenCandidates, sampling_for
from darc.engine.languages import language_flags
from darc.engine.list_panel_samples import ListPanelSamples
from darc.engine.outcome import Outcome
from darc.engine.pair_panel_samples import PairPanelSamples
from darc.engine.panel_samples import PanelSamples
from darc.engine.parts import Parts
from darc.engine.request import DecisionRequest, as_request
from darc.engine.rewriting import RewriteRunner
from darc.engine.samples import Samples
from darc.engine.scheduling import RequestOwner
from darc.engine.scoring import ScoreRunner
from darc.engine.side_inputs import text_judges_of
from darc.engine.stopping import Stopping
from darc.engine.threads import run_in_thread
from darc.engine.workers import Workers
from darc.errors import InputError
from darc.models.completion import ChatModel, Report
from darc.models.remote.meter import Meter
from darc.parts.generators.base import MAX_TOKENS, TOP_TOKENS, Generator
from darc.parts.generators.inputs import Answers, as_candidates, as_prompt
from darc.parts.ready import ReadyGenerator, as_ready_generator, close_part
from darc.parts.scorers.base import Scorer
from darc.parts.scorers.panel_settings import LISTWISE, PAIRWISE
from darc.registry import generators
from darc.types import Candidate, Prompt

Result = TypeVar("Result")

# How many prompts `map` works on at a time.
_MAP_WINDOW = 16
# How many seconds each part has to close.
_CLOSE_SECONDS = 0.3


class Engine(Closing):
    """Chooses among answers: those of a model (`ask`, `map`) or given ones (`choose`).

    Use an engine in a `with` block or, with the methods that end in `_async`, in an `async with`
    block of one event loop.

    Args:
        model: The generator of answers, by name (see `darc generators`) or as an object; None if
            only given answers are to be chosen from.
        settings: Settings of a command. Of these the ones that an engine has count.
        options: Fields of `EngineSettings` by name, which win over the settings. Some may be
            objects: `scorers` a list of names and scorers, `rewriter` a rewriter, `rule` a
            `Method`, `calibration` a `Calibration`, `panel` a `Panel` or what `--panel` takes,
            `side` a `SideInputMaker` or texts by name, `stop` a `StopRule`, `cache` a
            `ScoreCache`. These are always objects: `sampling` (`SamplingParameters`, in place of
            k, temperature, top_p and max_tokens), `standards` (`Standards`, in place of scale,
            threshold, no_rating_below and poor_below), `retry` (`ScorerRetry`) and `judge`, the
            model of raters that name none. Scores are kept for later, and worker processes are
            used, only if `cache` and `workers` say so.

    Raises:
        UnknownName: If there is no such option.
        InputError: If options contradict each other or cannot be used.
    """

    def __init__(
        self,
        model: str | Generator | None = None,
        *,
        settings: BaseModel | None = None,
        **options: Any,
    ) -> None:
        engine_options = parse_engine_options(settings, options)
        self.generator = _make_generator(model)
        remote_model = _remote_model_of(self.generator)
        panel = engine_options.choose_panel(remote_model)
        self.parts = engine_options.make_parts(panel)
        if panel is not None:
            # Raters grade the answers as they are.
            self.parts = self.parts.model_copy(update={"n_aug": 0})
        self.method = engine_options.make_method(self.parts)
        if self.method.call_price is not None:
            check_adaptive(self.method, panel)
        self.side_inputs = engine_options.side_inputs
        if panel is not None:
            text_judges = text_judges_of(self.method)
            self.side_inputs = replace(self.side_inputs, text_judges=text_judges)
        self.side_inputs.check(self.method.rule)
        self.method.check_parameters()
        rewriter = engine_options.value("rewriter")
        scorers = engine_options.value("scorers")
        self.tools = self.parts.tools(rewriter, scorers, remote_model or engine_options.judge)
        self.retry = engine_options.retry
        self.cache = engine_options.open_cache()
        # A cache that was given is closed by whoever gave it.
        self._owns_cache = self.cache is not engine_options.value("cache")
        self.workers = Workers(
            self.tools,
            self._worker_parts(rewriter, scorers),
            engine_options.settings.workers or 0,
        )
        self.scoring = ScoreRunner(self.tools.scorers, self.workers, self.cache, self.retry)
        self.rewriting = RewriteRunner(self.tools, self.workers, self.retry.seconds)
        self.sampling = sampling_for(self.generator, engine_options.sampling, MAX_TOKENS)
        if self.tools.needs_log_probabilities:
            if self.parts.n_aug:
                raise InputError(
                    "the scorer logprob has no log-probabilities of rewrites", "add --n-aug 0"
                )
            self.sampling = replace(self.sampling, top=TOP_TOKENS)
        self.stopping = engine_options.stopping
        if isinstance(self.stopping, Stopping) and panel is not None and panel.mode == PAIRWISE:
            raise InputError(
                "raters who compare pairs cannot tell what one answer is worth",
                "leave out --stop pandora, or take --panel-mode listwise",
            )
        self._writer: CandidateWriter | None = None
        if self.generator is not None:
            self._writer = CandidateWriter(self.generator, self.sampling, self.stopping)
        self._background = BackgroundLoop(self.aclose)

    def ask(
        self, prompt: str | Prompt, request: DecisionRequest | None = None, **options: Any
    ) -> Outcome:
        """Let the model answer a prompt, and choose among its answers.

        Args:
            prompt: A question, or a conversation.
            request: What is asked of the decision.
            options: Fields of `DecisionRequest`, by name.

        Returns:
            The chosen answer and everything behind it.

        Raises:
            DarcError: If something fails and the request is strict.
        """
        return self.run(self.ask_async(prompt, request, **options))

    async def ask_async(
        self, prompt: str | Prompt, request: DecisionRequest | None = None, **options: Any
    ) -> Outcome:
        """`ask`, awaited."""
        request = as_request(request, options)
        samples = self.new_samples(as_prompt(prompt), request.max_calls, request.meters)
        clock = request.clock or Clock()
        with raise_cause():
            with clock.stage("generate"):
                written = await self.write_candidates(
                    samples, n=request.n, strict=request.strict, report=request.report
                )
            request = replace(
                request,
                samples=samples,
                clock=clock,
                saved=written.saved,
                flags=[*request.flags, *written.flags],
            )
            return await self.decide(samples.prompt, written.candidates, request)

    def choose(
        self,
        prompt: str | Prompt,
        answers: Answers,
        request: DecisionRequest | None = None,
        **options: Any,
    ) -> Outcome:
        """Choose among given answers.

        Args:
            prompt: A question, or a conversation.
            answers: Texts, texts by their names, or `Candidate`s. Answers with the same text become
                one candidate, so that `Outcome.place`, not `Outcome.index`, is the place of the
                choice among the answers.
            request: What is asked of the decision.
            options: Fields of `DecisionRequest`, by name.

        Returns:
            The chosen answer and everything behind it.

        Raises:
            DarcError: If something fails and the request is strict.
        """
        return self.run(self.choose_async(prompt, answers, request, **options))

    async def choose_async(
        self,
        prompt: str | Prompt,
        answers: Answers,
        request: DecisionRequest | None = None,
        **options: Any,
    ) -> Outcome:
        """`choose`, awaited."""
        prompt = as_prompt(prompt)
        with raise_cause():
            return await self.decide(prompt, as_candidates(prompt, answers), request, **options)

    def map(
        self,
        prompts: Iterable[str | Prompt],
        request: DecisionRequest | None = None,
        *,
        window: int = _MAP_WINDOW,
        **options: Any,
    ) -> Iterator[Outcome]:
        """Ask many prompts.

        Args:
            prompts: Questions or conversations. They are read as they are needed, so there may be
                any number of them.
            request: What is asked of each decision.
            window: How many prompts to work on at a time.
            options: Fields of `DecisionRequest`, by name.

        Yields:
            The outcome of each prompt, in the order of the prompts.
        """
        outcomes = self.map_async(prompts, request, window=window, **options)
        try:
            while True:
                outcome = self.run(_next_outcome(outcomes))
                if outcome is None:
                    return
                yield outcome
        finally:
            self.run(outcomes.aclose())  # type: ignore[attr-defined]

    async def map_async(
        self,
        prompts: Iterable[str | Prompt],
        request: DecisionRequest | None = None,
        *,
        window: int = _MAP_WINDOW,
        **options: Any,
    ) -> AsyncIterator[Outcome]:
        """`map`, awaited."""
        request = as_request(request, options)
        running: deque[asyncio.Task[Outcome]] = deque()
        try:
            for number, prompt in enumerate(prompts, 1):
                if len(running) >= window:
                    yield await running.popleft()
                named_prompt = as_prompt(prompt, str(number))
                running.append(asyncio.ensure_future(self.ask_async(named_prompt, request)))
            while running:
                yield await running.popleft()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def decide(
        self,
        prompt: Prompt,
        candidates: Sequence[Candidate],
        request: DecisionRequest | None = None,
        **options: Any,
    ) -> Outcome:
        """Choose among a prompt's candidates.

        Candidates with the same text are merged first. Where only one is left of several, nothing
        is scored unless the request asks for everything.

        Args:
            prompt: The conversation.
            candidates: The candidates.
            request: What is asked of the decision.
            options: Fields of `DecisionRequest`, by name.

        Returns:
            The chosen answer and everything behind it.

        Raises:
            PartFailed: If a scorer or the rewriter fails and the request is strict.
            DarcError: If the rule cannot be applied and the request is strict.
        """
        request = as_request(request, options)
        method = self._method_for(request)
        merged = merge_copies(candidates)
        samples = self._samples_for(prompt, merged.candidates, method, request)
        search = self.new_search(samples, method, request)
        if self.parts.panel is not None:
            search.panel_waves = self.parts.panel.waves
        search.flags += [*request.flags, *copy_flags(merged.candidates, request.n)]
        if _is_one_answer(merged.candidates) and not request.score_everything:
            ranking = Ranking([0], None)
        else:
            search.flags += language_flags(self.tools, prompt, merged.candidates, samples.n_aug)
            ranking = await search.best(request.n, request.deadline)
        best_of_k = None
        if request.also_best_of_k:
            best_of_k = await self._find_best_of_k(samples, ranking, method, request)
        return Outcome(
            prompt=prompt,
            candidates=merged.candidates,
            rewrites=samples.rewrites,
            scores=samples.scores,
            decision=ranking.decision,
            order=ranking.order,
            flags=search.flags,
            milliseconds=samples.clock.milliseconds,
            calls=samples.counts.calls,
            scored=samples.counts.scored,
            from_cache=samples.counts.from_cache,
            saved=request.saved,
            best_of_k=best_of_k,
            places=merged.places,
        )

    async def write_candidates(
        self, samples: Samples, *, n: int = 1, strict: bool = True, report: Report | None = None
    ) -> WrittenCandidates:
        """Let the model write candidates.

        Args:
            samples: The samples of the prompt, which score candidates that are written in waves.
            n: How many different answers are needed.
            strict: Whether a scorer that fails fails the writing.
            report: Told how many candidates are written, as report(done, total).

        Returns:
            The candidates, with flags that say why there are fewer than asked for.

        Raises:
            InputError: If the engine has no model.
        """
        if self._writer is None:
            raise InputError("the engine has no model", "give one: Engine('openai:MODEL@URL')")
        written = await self._writer.write(samples, n=n, strict=strict, report=report)
        if written.failed:
            return replace(written, flags=[FEWER_CANDIDATES, *written.flags])
        return written

    def new_samples(
        self,
        prompt: Prompt,
        max_calls: int | None = None,
        meters: Mapping[str, Meter] | None = None,
        *,
        patient: bool = False,
    ) -> Samples:
        """The samples of a prompt before there are any candidates.

        Args:
            prompt: The conversation.
            max_calls: How many texts may be scored, or grades asked for.
            meters: Count the remote calls of the stages "rewrite" and "score".
            patient: Whether calls to the judges of a listwise panel that fail are tried again as
                often as the client does; otherwise one call per prompt is.

        Returns:
            Samples that rewrite and score candidates, or ask a panel for grades.
        """
        panel = self.parts.panel
        if panel is not None and panel.mode == LISTWISE:
            return ListPanelSamples(
                tools=self.tools,
                rewriting=self.rewriting,
                scoring=self.scoring,
                panel=panel,
                prompt=prompt,
                owner=RequestOwner(),
                max_calls=max_calls,
                meters=meters or {},
                patient=patient,
            )
        if panel is not None and panel.mode == PAIRWISE:
            return PairPanelSamples(
                tools=self.tools,
                rewriting=self.rewriting,
                scoring=self.scoring,
                panel=panel,
                prompt=prompt,
                owner=RequestOwner(),
                max_calls=max_calls,
                meters=meters or {},
                patient=patient,
            )
        if panel is not None:
            return PanelSamples(
                tools=self.tools,
                rewriting=self.rewriting,
                scoring=self.scoring,
                panel=panel,
                prompt=prompt,
                owner=RequestOwner(),
                max_calls=max_calls,
                meters=meters or {},
            )
        return Samples(
            tools=self.tools,
            rewriting=self.rewriting,
            scoring=self.scoring,
            prompt=prompt,
            owner=RequestOwner(),
            max_calls=max_calls,
            meters=meters or {},
        )

    def new_search(
        self,
        samples: Samples,
        method: Method | None = None,
        request: DecisionRequest | None = None,
    ) -> DecisionSearch:
        """A search among the candidates of some samples.

        Args:
            samples: The samples, with their candidates.
            method: How to decide; the engine's own method if None.
            request: What is asked of the decision.

        Returns:
            The search, which has not begun.
        """
        request = request or DecisionRequest()
        return DecisionSearch(
            samples=samples,
            method=method or self.method,
            side_inputs=self.side_inputs,
            workers=self.workers,
            # A search would rule answers out without looking at what their texts predict.
            score_everything=request.score_everything or self.side_inputs.predicts,
            strict=request.strict,
            wave=request.wave,
        )

    async def compute_side_inputs(
        self, prompt: Prompt, candidates: Sequence[Candidate]
    ) -> dict[str, Any]:
        """Compute all side inputs of a prompt's candidates that can be computed.

        Args:
            prompt: The conversation.
            candidates: Its candidates.
        """
        return await run_in_thread(self.side_inputs.compute, prompt, candidates)

    async def warm(self) -> None:
        """Load the models that are otherwise loaded at the first use, except those on servers."""
        prompt = as_prompt("Is it warm?")
        for place, scorer in enumerate(self.tools.scorers):
            needs_generator = getattr(scorer.part, "needs_log_probabilities", False)
            if not (scorer.remote or scorer.in_process or needs_generator):
                await self.scoring.score_texts(place, prompt, ["It is warm."], None, CallCounts())
        uses_workers = any(scorer.in_process for scorer in self.tools.scorers)
        if self.tools.rewriter.in_process or uses_workers:
            await self.workers.warm(self.retry.seconds)

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine in the engine's own event loop, and return its result.

        Args:
            coroutine: What is awaited.
        """
        return self._background.run(coroutine)

    async def aclose(self) -> None:
        """Release everything, from the event loop that used it."""
        await self.scoring.aclose()
        if self._writer is not None:
            await self._writer.aclose()
        parts: list[Any] = [
            self.tools.rewriter,
            *self.tools.scorers,
            *self.side_inputs.scorers.values(),
        ]
        if self.generator is not None:
            parts.append(self.generator)
        # A model that is busy is not waited for: it closes when it is done.
        closing = [asyncio.wait_for(close_part(part), _CLOSE_SECONDS) for part in parts]
        for result in await asyncio.gather(*closing, return_exceptions=True):
            if isinstance(result, BaseException) and not isinstance(result, TimeoutError):
                raise result
        self._release()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def close(self) -> None:
        """Release everything."""
        # The workers end first, so that a cancelled job need not wait for the end of its work.
        self.workers.close(for_good=True)
        self._background.close()
        self._release()

    def _release(self) -> None:
        self.workers.close()
        if self._owns_cache and self.cache is not None:
            self.cache.close()

    def _worker_parts(self, rewriter: object, scorers: Sequence[str | Scorer]) -> Parts | None:
        """What worker processes make their tools from; None if the tools cannot be named."""
        all_named = all(isinstance(part, str) for part in (rewriter, *scorers))
        if not all_named or self.parts.panel is not None:
            return None
        return self.parts.with_fixed_embeddings(self.tools)

    def _method_for(self, request: DecisionRequest) -> Method:
        """How to decide on a request."""
        method = request.method or self.method
        if request.rule is not None:
            method = method.with_rule_of(as_method(request.rule))
        if self.parts.panel is not None:
            method = replace(method, include_original=True)
        return method

    def _samples_for(
        self,
        prompt: Prompt,
        candidates: Sequence[Candidate],
        method: Method,
        request: DecisionRequest,
    ) -> Samples:
        """The samples of merged candidates, with the scores of earlier samples."""
        n_aug = request.n_aug
        if n_aug is None or self.parts.panel is not None:
            n_aug = self.parts.n_aug
        samples = request.samples
        if samples is None:
            samples = self.new_samples(prompt, request.max_calls, request.meters)
        first_sample = method.first_sample
        if n_aug == 0:
            first_sample = 0
        characters = (n_aug + 1) * sum(len(candidate.text) for candidate in candidates)
        return replace(
            samples,
            candidates=candidates,
            n_aug=n_aug,
            owner=RequestOwner(characters),
            first_sample=first_sample,
            clock=request.clock or Clock(),
        )

    async def _find_best_of_k(
        self, samples: Samples, ranking: Ranking, method: Method, request: DecisionRequest
    ) -> int | None:
        """The place of the candidate with the largest mean; None where nothing was compared."""
        decision = ranking.decision
        if decision is None:
            return None
        if decision.is_likely and decision.opinions is not None:
            # To find the largest mean for certain would take the grades that were saved.
            return decision.opinions.best_mean
        search = self.new_search(samples, method.best_of_k, request)
        best_ranking = await search.best(1, request.deadline)
        return best_ranking.order[0]


def _make_generator(model: str | Generator | None) -> ReadyGenerator | None:
    if not model:
        return None
    if isinstance(model, str):
        return as_ready_generator(generators.make(model))
    return as_ready_generator(model)


def _remote_model_of(generator: ReadyGenerator | None) -> ChatModel | None:
    """The model on a server that writes the answers, if there is one."""
    if generator is None:
        return None
    model: ChatModel | None = getattr(generator.part, "model", None)
    if getattr(model, "remote", False):
        return model
    return None


def _is_one_answer(candidates: Sequence[Candidate]) -> bool:
    """Whether all answers have the same text, and there were several."""
    return len(candidates) == 1 and candidates[0].copies > 1


async def _next_outcome(outcomes: AsyncIterator[Outcome]) -> Outcome | None:
    return await anext(outcomes, None)


def ask(
    prompt: str | Prompt,
    model: str | Generator,
    *,
    settings: BaseModel | None = None,
    **options: Any,
) -> Outcome:
    """Let a model answer a prompt, and choose among its answers.

    Args:
        prompt: A question, or a conversation.
        model: The model, as `Engine` takes it.
        settings: Settings of a command.
        options: Options of `Engine`, such as `k`.

    Returns:
        The chosen answer and everything behind it.
    """
    with Engine(model, settings=settings, **options) as engine:
        return engine.ask(prompt)


def choose(
    prompt: str | Prompt, answers: Answers, *, settings: BaseModel | None = None, **options: Any
) -> Outcome:
    """Choose among given answers.

    Args:
        prompt: A question, or a conversation.
        answers: Texts, or texts by their names.
        settings: Settings of a command.
        options: Options of `Engine`.

    Returns:
        The chosen answer and everything behind it.
    """
    with Engine(settings=settings, **options) as engine:
        return engine.choose(prompt, answers)
