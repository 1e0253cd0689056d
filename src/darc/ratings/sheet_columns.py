"""Which column of a sheet plays which role, by its name, by what it holds, or by what users say."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from darc.errors import InputError, nearest
from darc.field_names import NOT_RATERS, RATED_TEXT_COLUMNS, RATING_COLUMNS
from darc.ratings.columns import ROLES, is_named
from darc.ratings.rating_cells import is_missing, is_rating, kind_of_ratings
from darc.ratings.rating_words import plain_word
from darc.ratings.sheet import Sheet

IDS = ("prompt_id", "candidate_id")
TEXT_ROLES = tuple(RATED_TEXT_COLUMNS)
#: The roles that a user may name a column for.
NAMED_ROLES = (*RATING_COLUMNS, *TEXT_ROLES)
_TEXT_NAMES = frozenset(name for names in RATED_TEXT_COLUMNS.values() for name in names)
# Columns of ratings in unknown words have at most so many words, of at most so many letters.
_MAX_WORDS = 12
_MAX_WORD_LENGTH = 40
# A survey's column for one answer: "Rate the answers to: Why? [Answer A]".
_GRID_QUESTION = re.compile(r"(.*\S)\s*\[([^\[\]]+)\]\s*", re.DOTALL)
_DASH_QUESTION = re.compile(r"(.*\S)\s+[-\u2013\u2014]\s+(\S.*)", re.DOTALL)
# What a survey says about the person in each row.
_SURVEY_RATERS = ("response_id", "responseid", "recipient_email", "recipientemail", "name")

# A grade in French or Spanish, a remark in English.
_AMBIGUOUS_NAMES = ("note", "nota", "evaluation", "évaluation", "label", "value", "mark")


class UnknownColumn(InputError):
    """Nothing tells which column plays a role.

    Args:
        source: The file.
        role: The role.
        message: What is wrong.
        names: The columns that it may be, the likeliest first.
    """

    def __init__(self, source: str, role: str, message: str, names: Sequence[str]) -> None:
        hint = "add such a column"
        if names:
            hint = f"name it: --column {role}={_quoted_name(names[0])}"
            if len(names) > 1:
                others = ", ".join(names[1:20])
                hint = f"name it, such as --column {role}={_quoted_name(names[0])} (or {others})"
        super().__init__(f"{source}: {message}", hint)
        #: The role that no column is known for.
        self.role = role
        #: The columns that it may be.
        self.names = tuple(names)


def _quoted_name(name: str) -> str:
    """A name as a shell takes it for one word."""
    if re.fullmatch(r"[\w.-]+", name):
        return name
    return f"'{name}'"


@dataclass(frozen=True)
class RatingColumn:
    """A column of ratings, and what its name says about them."""

    name: str
    #: Who gave its ratings, "" where the row says it.
    rater: str = ""
    #: The prompt and the candidate, "" where the row says it.
    prompt: str = ""
    candidate: str = ""


@dataclass(frozen=True)
class SheetColumns:
    """Which column of a sheet plays which role."""

    #: What the layout is called.
    layout: str
    #: The sheet's column for each role of a row that has one.
    roles: Mapping[str, str]
    ratings: Sequence[RatingColumn]
    #: Other columns, which say something about a candidate.
    extras: Sequence[str] = ()
    #: Columns of numbers that are not taken for ratings.
    left_out: Sequence[str] = ()
    #: Which columns were chosen by what they hold, for the user to check.
    guessed: Mapping[str, str] = field(default_factory=dict)


def find_columns(
    sheet: Sheet, columns: Mapping[str, Sequence[str]], scale: Mapping[str, float]
) -> SheetColumns:
    """Find the column of each role.

    Args:
        sheet: The sheet.
        columns: The columns that the user names for a role; several may hold ratings.
        scale: The numbers of words that the user gives.

    Raises:
        UnknownColumn: Nothing tells which column plays a role.
        InputError: The user names a column that is not there.
    """
    finder = _Finder(sheet, columns, scale)
    return finder.find()


class _Finder:
    """Finds the columns of one sheet."""

    def __init__(
        self, sheet: Sheet, columns: Mapping[str, Sequence[str]], scale: Mapping[str, float]
    ) -> None:
        self._sheet = sheet
        self._columns = columns
        self._scale = scale
        self._names = [name for name in sheet.names if is_named(name)]
        self._check_names()
        self._roles: dict[str, str] = {}
        self._guessed: dict[str, str] = {}
        self._rating_kinds: dict[str, str] = {}

    def find(self) -> SheetColumns:
        for role in RATING_COLUMNS:
            name = self._called_like(role, RATING_COLUMNS[role])
            if name and not self._is_remark(role, name):
                self._roles[role] = name
        survey = self._survey_columns()
        if survey:
            return self._result("a survey with a row for each person", survey)
        rating_names = self._rating_names()
        if "prompt_id" in self._roles and "candidate_id" not in self._roles:
            matrix = self._matrix_columns(rating_names)
            if matrix:
                return self._result("a table with a column for each answer and rater", matrix)
        answers = self._answer_columns(rating_names)
        if answers:
            return self._result("a table with a column for each answer", answers)
        self._find_ids(rating_names)
        return self._layout(rating_names)

    def _layout(self, rating_names: Sequence[str]) -> SheetColumns:
        """The layout of a table whose rows name prompt and candidate."""
        if not rating_names:
            raise UnknownColumn(
                self._sheet.source, "rating", "no column looks like ratings", self._unused()
            )
        is_stated = "rating" in self._columns
        if not self._candidates_recur():
            if "rater_id" in self._roles and len(rating_names) == 1:
                return self._result("a table", [RatingColumn(rating_names[0])])
            layout = "a table with a column for each rater"
            if len(rating_names) == 1:
                layout = "a table"
            if "rater_id" in self._roles:
                return self._result(layout, [RatingColumn(name) for name in rating_names])
            return self._result(layout, [RatingColumn(name, rater=name) for name in rating_names])
        # A candidate in several rows has a rater in each.
        if len(rating_names) > 1 and not is_stated:
            raise UnknownColumn(
                self._sheet.source,
                "rating",
                "a candidate has several rows, and each has several numbers",
                rating_names,
            )
        if "rater_id" not in self._roles and "rating" not in self._roles:
            self._find_rater(rating_names)
        if len(rating_names) == 1:
            return self._result("a table", [RatingColumn(rating_names[0])])
        ratings = [RatingColumn(name, rater=name) for name in rating_names]
        return self._result("a table with several ratings in a row", ratings)

    def _check_names(self) -> None:
        for role, names in self._columns.items():
            if role not in {*NAMED_ROLES, *ROLES}:
                known = ", ".join(NAMED_ROLES)
                raise InputError(f"--column {role}=... is not a column of ratings", f"use {known}")
            if len(names) > 1 and role != "rating":
                raise InputError(f"--column {role} is given twice", "name one column")
            for name in names:
                if name not in self._sheet.names:
                    listed = nearest(name, self._names)
                    message = f"{self._sheet.source}: there is no column {name!r}"
                    raise InputError(message, listed)

    def _stated(self) -> set[str]:
        """The columns that the user has named for some role."""
        return {name for names in self._columns.values() for name in names}

    def _called_like(self, role: str, words: Sequence[str]) -> str:
        """The column that the user names for a role, or the first that is called like it."""
        if role in self._columns:
            return self._columns[role][0]
        # Of two columns that differ in case only, the first counts.
        by_word = {_word(name): name for name in reversed(self._names)}
        taken = self._stated()
        if role == "rater_group":
            taken = taken | set(self._roles.values())
        for word in words:
            if word in by_word and by_word[word] not in taken:
                return by_word[word]
        return ""

    def _is_remark(self, role: str, name: str) -> bool:
        """Whether a column of texts is called like ratings in another language."""
        if role != "rating" or role in self._columns or _word(name) not in _AMBIGUOUS_NAMES:
            return False
        return not self._is_rated(name)

    def _cells(self, name: str) -> list[str]:
        return [row[name] for row in self._sheet.rows]

    def _rating_kind(self, name: str) -> str:
        """What the ratings of a column are: "numbers", "words", or "" where it has none."""
        if name not in self._rating_kinds:
            self._rating_kinds[name] = kind_of_ratings(self._cells(name), self._scale)
        return self._rating_kinds[name]

    def _is_rated(self, name: str) -> bool:
        return self._rating_kind(name) != ""

    def _rating_names(self) -> list[str]:
        """The columns of ratings: those that the user names, the one so called, or all others."""
        if "rating" in self._columns:
            return list(dict.fromkeys(self._columns["rating"]))
        if "rating" in self._roles:
            return [self._roles["rating"]]
        unused = [name for name in self._unused() if not _is_other(name)]
        names = [name for name in unused if self._is_rated(name) or self._is_mostly_rated(name)]
        if not names:
            return self._word_columns(unused)
        # Beside columns of numbers, one that says "fine" here and there is a remark.
        kinds = Counter(self._rating_kind(name) for name in names)
        if kinds["words"] == kinds["numbers"]:
            return names
        kind = kinds.most_common(1)[0][0]
        return [name for name in names if self._rating_kind(name) in (kind, "")]

    def _is_mostly_rated(self, name: str) -> bool:
        """Whether half of a column's cells are ratings, and the others are to be asked about."""
        cells = [cell for cell in self._cells(name) if not is_missing(cell)]
        return bool(cells) and 2 * sum(map(is_rating, cells)) >= len(cells)

    def _word_columns(self, names: Sequence[str]) -> list[str]:
        """Columns that share a few short words, which nobody knows for ratings yet."""
        words = {
            name: {plain_word(cell) for cell in self._cells(name) if not is_missing(cell)}
            for name in names
        }
        all_words = set().union(*words.values())
        has_few = 1 < len(all_words) <= _MAX_WORDS
        is_short = all(len(word) <= _MAX_WORD_LENGTH for word in all_words)
        if len(names) < 2 or not has_few or not is_short:
            return []
        shared = [
            name
            for name in names
            if any(words[name] & words[other] for other in names if other != name)
        ]
        if set(IDS) <= self._roles.keys() and len(shared) == len(names):
            return shared
        return []

    def _unused(self) -> list[str]:
        used = {*self._roles.values(), *self._stated()}
        return [name for name in self._names if name not in used]

    def _find_ids(self, rating_names: Sequence[str]) -> None:
        """Find the prompt and the candidate by what columns hold, where names do not tell."""
        free = [
            name
            for name in self._unused()
            if name not in rating_names and not _is_other(name) and self._is_filled(name)
        ]
        for role in IDS:
            if role in self._roles:
                continue
            choices = [name for name in free if name not in self._roles.values()]
            other = IDS[1 - IDS.index(role)]
            if role == "prompt_id" and other not in self._roles and len(choices) == 2:
                # Of two columns the first is the prompt, unless only the second repeats.
                self._guess(role, self._likely_prompt(choices))
                continue
            fitting = [name for name in choices if self._fits(role, name)]
            if role == "prompt_id" and len(choices) == 1:
                fitting = choices
            if len(fitting) == 1:
                self._guess(role, fitting[0])
                continue
            raise UnknownColumn(
                self._sheet.source,
                role,
                f"no column looks like {role}",
                fitting or choices or self._unused(),
            )

    def _likely_prompt(self, names: Sequence[str]) -> str:
        """Of two columns of ids the one whose values come again in rows that follow each other."""
        repeats = [len(self._sheet.rows) - len(set(self._cells(name))) for name in names]
        first, second = names
        if len(set(self._cells(second))) > len(set(self._cells(first))) and repeats[0]:
            runs_first = _count_runs(self._cells(first))
            runs_second = _count_runs(self._cells(second))
            return first if runs_first <= runs_second else second
        return first

    def _fits(self, role: str, name: str) -> bool:
        """Whether a column may be one of the ids beside the other one."""
        other = IDS[1 - IDS.index(role)]
        if other not in self._roles:
            return True
        keys = {(row[self._roles[other]], row[name]) for row in self._sheet.rows}
        others = {row[self._roles[other]] for row in self._sheet.rows}
        return len(keys) > len(others)

    def _guess(self, role: str, name: str) -> None:
        self._roles[role] = name
        self._guessed[role] = name

    def _is_filled(self, name: str) -> bool:
        return all(self._cells(name))

    def _candidates_recur(self) -> bool:
        keys = {tuple(row[self._roles[role]] for role in IDS) for row in self._sheet.rows}
        return len(keys) < len(self._sheet.rows)

    def _find_rater(self, rating_names: Sequence[str]) -> None:
        rest = [name for name in self._unused() if name not in rating_names]
        if len(rest) != 1:
            raise UnknownColumn(
                self._sheet.source,
                "rater_id",
                "a candidate has several rows, and no column looks like a rater",
                rest,
            )
        self._guess("rater_id", rest[0])

    def _survey_columns(self) -> list[RatingColumn]:
        """The columns of a survey whose names have the prompt and the candidate."""
        if any(role in self._columns for role in (*IDS, "rating")):
            return []
        ratings = []
        for pattern in (_GRID_QUESTION, _DASH_QUESTION):
            for name in self._names:
                match = pattern.fullmatch(name)
                if match and self._is_rated(name):
                    prompt = match[1].strip()
                    ratings.append(RatingColumn(name, prompt=prompt, candidate=match[2].strip()))
            if len(ratings) > 1:
                break
            ratings = []
        if not ratings or self._rows_are_answers():
            return []
        used = {column.name for column in ratings}
        kept_roles = ("rater_id", "rater_group")
        self._roles = {
            role: name
            for role, name in self._roles.items()
            if role in kept_roles and name not in used
        }
        if "rater_id" not in self._roles:
            name = self._called_like("rater_id", _SURVEY_RATERS)
            if name:
                self._roles["rater_id"] = name
        return ratings

    def _rows_are_answers(self) -> bool:
        """Whether the rows, and not the columns, are rated answers."""
        if any(role not in self._roles for role in IDS):
            return False
        # The id that a survey gives to the reply of a person.
        return _word(self._roles["candidate_id"]) != "response_id"

    def _matrix_columns(self, rating_names: Sequence[str]) -> list[RatingColumn]:
        """The columns under headings that name the candidates."""
        groups = self._sheet.groups
        headings = {groups.get(name, "") for name in rating_names}
        if "" in headings or len(headings) < 2:
            return []
        return [
            RatingColumn(name, rater=re.sub(r" \(\d+\)$", "", name), candidate=groups[name])
            for name in rating_names
        ]

    def _answer_columns(self, rating_names: Sequence[str]) -> list[RatingColumn]:
        """The columns of a table without a column of candidates, each of which is one."""
        if "candidate_id" in self._roles or "rating" in self._roles or len(rating_names) < 2:
            return []
        free = [name for name in self._unused() if name not in rating_names]
        if "prompt_id" not in self._roles:
            if any(not _is_other(name) for name in free) and "rater_id" not in self._roles:
                return []
            raise InputError(
                f"{self._sheet.source}: no column says which prompt and which answer was rated",
                "if each row is one person, name the columns PROMPT [ANSWER]",
            )
        if any(self._fits("candidate_id", name) for name in free if not _is_other(name)):
            return []
        return [RatingColumn(name, candidate=name) for name in rating_names]

    def _result(self, layout: str, ratings: Sequence[RatingColumn]) -> SheetColumns:
        roles = {role: name for role, name in self._roles.items() if role != "rating"}
        rating_names = {column.name for column in ratings}
        for role, words in RATED_TEXT_COLUMNS.items():
            name = self._called_like(role, words)
            if name and name not in rating_names:
                roles[role] = name
        used = {*roles.values(), *rating_names}
        others = [name for name in self._names if name not in used]
        left_out = []
        if any(column.rater for column in ratings):
            left_out = [name for name in others if self._is_rated(name)]
        is_survey = any(column.prompt or column.candidate for column in ratings)
        if not is_survey and any(column.rater for column in ratings):
            # A row has the ratings of several people, and no group of one of them.
            roles.pop("rater_group", None)
        extras = []
        if not is_survey:
            extras = [name for name in others if _word(name) not in ROLES]
        return SheetColumns(layout, roles, ratings, extras, left_out, self._guessed)


def _word(name: str) -> str:
    """A column's name as it is compared."""
    return re.sub(r"[\s_\-]+", "_", name.strip().casefold().rstrip(":?"))


def _is_other(name: str) -> bool:
    """Whether a column that could be ratings holds something else, by its name."""
    return _word(name) in NOT_RATERS or _word(name) in _TEXT_NAMES


def _count_runs(cells: Collection[str]) -> int:
    """How often a value differs from the one before."""
    runs = 0
    last = None
    for cell in cells:
        if cell != last:
            runs += 1
        last = cell
    return runs
