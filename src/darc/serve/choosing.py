"""Choosing among the replies to a request."""

from collections.abc import Sequence
from dataclasses import replace

from darc.decide.method import Method
from darc.decide.registry import DEFAULT_RULE
from darc.engine.copies import copy_flags
from darc.engine.engine import Engine
from darc.engine.failures import PartFailed
from darc.engine.flags import FIRST_CANDIDATE
from darc.engine.outcome import Outcome
from darc.engine.waves import WaveDrawing
from darc.errors import DarcError, InputError
from darc.models.remote.errors import OverLimit
from darc.parts.generators.inputs import drop_failed
from darc.serve.errors import unavailable
from darc.serve.job import Job
from darc.serve.prompts import has_media
from darc.serve.replies import Reply
from darc.serve.requests import ChatRequest, rule_problem
from darc.serve.rule_parameters import unchecked_parameters
from darc.serve.settings import ServeSettings
from darc.web.problems import Problem

# The most frequent answer; the panel breaks ties.
MAJORITY = "majority"


class Chooser:
    """Chooses among replies with an engine, within the limits of the settings."""

    def __init__(self, settings: ServeSettings, engine: Engine) -> None:
        """Make a chooser."""
        self._settings = settings
        self._engine = engine
        self._has_panel = settings.parts.panel is not None

    def check_workload(self, job: Job, k: int, texts: Sequence[str] = ()) -> None:
        """Refuse what cannot be chosen as requested, or would be too long, before it costs.

        Each of the texts is read once and once per rewrite of it, and the prompt once per wave of
        texts.

        Args:
            job: The request's job.
            k: The number of candidates.
            texts: The candidates, if they are known yet.

        Raises:
            Problem: With status 400.
        """
        try:
            self._engine.side_inputs.check(job.method.method.rule)
        except DarcError as error:
            raise rule_problem(error) from None
        samples = self._samples_per_candidate(job.method.options.n_aug)
        waves = _divide_up(k * samples, job.method.options.wave)
        prompt_characters = sum(len(message.content) for message in job.prompt.messages)
        text_characters = sum(len(text) for text in texts)
        characters = samples * text_characters + waves * prompt_characters
        limit = self._settings.max_work
        if characters > limit:
            message = (
                f"choosing would read {characters} characters, more than {limit} (max_work): "
                "send less text, or ask for a smaller darc.k or darc.n_aug"
            )
            raise Problem(400, message, code="max_work", param="darc")

    async def choose(
        self,
        request: ChatRequest,
        job: Job,
        replies: Sequence[Reply],
        flags: Sequence[str],
        drawing: WaveDrawing | None = None,
    ) -> Outcome:
        """Choose among what the backend has written, which may be nothing to choose from.

        Args:
            request: The request.
            job: Its job.
            replies: The replies, merged by their texts.
            flags: What is to be said of the outcome already.
            drawing: How the candidates were drawn, if in waves.

        Raises:
            Problem: With status 503 if nothing can be compared and the policy is closed.
        """
        if request.k == 1:
            return self._take_first(job, replies, 1, flags)
        n = request.body.n
        n_aug = job.method.options.n_aug
        flags = list(flags)
        if not self._has_panel and _must_not_be_rewritten(request, replies):
            flags.append("not_rewritten")
            n_aug = 0
        if has_media(request.backend_body["messages"]):
            flags.append("text_only")
        written = sum(reply.candidate.copies for reply in replies)
        if written == 1:
            return self._take_first(job, replies, 1, [*flags, "one_candidate"])
        if not any(reply.text.strip() for reply in replies):
            if job.fail_closed:
                raise unavailable("no answer has any text to be scored", "no_text")
            return self._take_first(job, replies, n, [*flags, "no_text", FIRST_CANDIDATE])
        if len(replies) == 1:
            return self._take_first(job, replies, n, flags)
        if self._decides_by_majority(request, job, replies):
            leaders = most_frequent(replies)
            votes = replies[leaders[0]].candidate.copies
            if len(leaders) == 1:
                flags.append(f"majority:{votes} of {written}")
                return self._take(job, replies, leaders, flags)
            by_majority = job.method.method.with_rule_of(Method.parse(MAJORITY))
            job.method = replace(job.method, method=by_majority)
        readings = self._affordable_readings(replies)
        if readings < self._samples_per_candidate(n_aug):
            if job.fail_closed:
                raise unavailable("the answers are too long to choose among (max_work)", "max_work")
            if self._has_panel or readings == 0:
                return self._take_first(job, replies, n, [*flags, "too_long", FIRST_CANDIDATE])
            flags.append("fewer_rewrites")
            n_aug = readings - 1
        return await self.decide(job, replies, flags, n=n, n_aug=n_aug, drawing=drawing)

    def _decides_by_majority(
        self, request: ChatRequest, job: Job, replies: Sequence[Reply]
    ) -> bool:
        """Whether the most frequent answer wins: among tool calls, or answers of a form.

        A request that wants several answers or all grades, or whose rule is not the default, is
        decided as it asks.
        """
        options = job.method.options
        if not self._has_panel or request.body.n > 1 or options.full:
            return False
        if job.method.method.rule.name != DEFAULT_RULE:
            return False
        return _must_not_be_rewritten(request, replies)

    async def decide(
        self,
        job: Job,
        replies: Sequence[Reply],
        flags: Sequence[str],
        *,
        n: int,
        n_aug: int,
        drawing: WaveDrawing | None = None,
    ) -> Outcome:
        """Have the engine decide.

        Args:
            job: The request's job.
            replies: The replies, merged by their texts.
            flags: What is to be said of the outcome already.
            n: The number of choices.
            n_aug: The number of rewrites per candidate.
            drawing: How the candidates were drawn, if in waves.

        Raises:
            Problem: With status 400 if the rule cannot be applied.
            PartFailed: A part failed and the policy is closed.
            OverLimit: The request has used up its calls or tokens.
        """
        options = job.method.options
        if options.writes_more and job.samples is None:
            # They keep what was scored, for the decision with further candidates.
            job.samples = self._engine.new_samples(
                job.prompt, options.budget.calls, job.engine_meters
            )
        wave = options.wave
        if self._has_panel:
            # A wave of a panel is at most one grade per answer.
            wave = min(wave, len(replies))
        samples = job.samples
        saved = 0
        if drawing is not None:
            samples = drawing.samples
            saved = drawing.saved
        method = replace(job.method.method, include_original=options.include_original or n_aug == 0)
        try:
            outcome = await self._engine.decide(
                job.prompt,
                drop_failed([reply.candidate for reply in replies]),
                method=method,
                n=n,
                n_aug=n_aug,
                score_everything=options.full,
                strict=job.fail_closed,
                max_calls=options.budget.calls,
                deadline=job.deadline,
                wave=wave,
                flags=flags,
                clock=job.clock,
                meters=job.engine_meters,
                samples=samples,
                saved=saved,
            )
        except (PartFailed, OverLimit):
            raise
        except DarcError as error:
            raise rule_problem(error) from None
        except (TypeError, ValueError) as error:
            if not unchecked_parameters(method.rule):
                raise
            raise rule_problem(error) from None
        _check_rule_was_applied(outcome, method)
        return outcome

    def _take_first(
        self, job: Job, replies: Sequence[Reply], n: int, flags: Sequence[str]
    ) -> Outcome:
        """The first replies, without a comparison."""
        return self._take(job, replies, list(range(len(replies)))[:n], flags, n)

    def _take(
        self,
        job: Job,
        replies: Sequence[Reply],
        order: Sequence[int],
        flags: Sequence[str],
        n: int = 1,
    ) -> Outcome:
        """Some replies, without a comparison."""
        candidates = drop_failed([reply.candidate for reply in replies])
        return Outcome(
            prompt=job.prompt,
            candidates=candidates,
            scores=self._engine.tools.empty_scores(candidates, 0),
            order=order,
            flags=[*flags, *copy_flags(candidates, n)],
        )

    def _samples_per_candidate(self, n_aug: int) -> int:
        """How often a candidate is read: by every rater, or once and once per rewrite."""
        panel = self._settings.parts.panel
        if panel is None:
            return n_aug + 1
        return len(panel) * panel.repeats

    def _affordable_readings(self, replies: Sequence[Reply]) -> int:
        """How often each of the replies can be read within the limits."""
        lengths = [len(reply.text) for reply in replies]
        if max(lengths) > self._settings.max_candidate_characters:
            return 0
        return self._settings.max_work // sum(lengths)


def _check_rule_was_applied(outcome: Outcome, method: Method) -> None:
    """Refuse values of parameters that could not be checked before the rule was applied."""
    unchecked = unchecked_parameters(method.rule)
    if unchecked and "rule_failed" in outcome.flags:
        values = ", ".join(f"{name}={method.rule.parameters[name]!r}" for name in unchecked)
        raise rule_problem(InputError(f"rule {method.rule.name!r} cannot be applied with {values}"))


def most_frequent(replies: Sequence[Reply]) -> list[int]:
    """The places of the replies that were written most often, one place if one leads alone."""
    copies = [reply.candidate.copies for reply in replies]
    return [place for place, count in enumerate(copies) if count == max(copies)]


def _must_not_be_rewritten(request: ChatRequest, replies: Sequence[Reply]) -> bool:
    return request.has_prescribed_format or any(reply.has_tool_calls for reply in replies)


def _divide_up(number: int, size: int) -> int:
    """How many groups of a size a number makes, the last one maybe smaller."""
    return -(-number // size)
