"""The pages of `darc view`: the list, a decision, and two decisions side by side."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from darc.decide.flags import flag_words
from darc.engine.flags import FLAG_SENTENCES
from darc.viewer.comparison import Comparison, compare
from darc.viewer.index import DecisionIndex, beginning
from darc.viewer.query import CHANGE_FILTERS, CHANGE_ORDERS, FILTERS, ORDERS, Query
from darc.viewer.source import DecisionView
from darc.views.dots_html import dots_figure
from darc.views.html import environment

PAGE_SIZE = 50
_FOLDER = Path(__file__).parent / "templates"
# A longer question is folded after its beginning.
_MAX_QUESTION_LENGTH = 600
_SIDES = ("first", "second")


@dataclass(frozen=True)
class _Side:
    """What the page shows of one source's decision on a prompt.

    Attributes:
        title: The source and its rule.
        row: What the list knows of the decision, None if the source has none.
        view: What its page shows, None if the source has none.
        figure: The dot picture.
        flags: The flags, each with what it means.
    """

    title: str
    row: Mapping[str, Any] | None
    view: DecisionView | None
    figure: Markup
    flags: list[tuple[str, str]]


class Pages:
    """Renders the pages over an index."""

    def __init__(self, index: DecisionIndex) -> None:
        """Render pages over an index."""
        self._index = index
        self._comparison: Comparison | None = None
        if index.compares:
            self._comparison = compare(index)
        self._titles = [f"{source.name} by {source.rule}" for source in index.sources]

    def list_page(self, query: Query, page: int) -> str:
        """The list of decisions that a query finds.

        Args:
            query: Which ones, in which order.
            page: The number of the page, from 1 on; the last one if there are fewer.
        """
        found = self._index.count(query)
        pages = max(1, -(-found // PAGE_SIZE))
        page = min(page, pages)
        offset = (page - 1) * PAGE_SIZE
        entries = self._index.entries(query, offset, PAGE_SIZE)
        return self._render(
            "list.html",
            title=" and ".join(self._titles),
            query=query,
            filters=self._filters(),
            orders=self._orders(),
            systems=self._index.names("system"),
            groups=self._index.names("group"),
            found=found,
            total=self._index.total,
            first=offset + 1,
            rows=[
                {**entry, "url": _decision_url(entry["number"], query, offset + place)}
                for place, entry in enumerate(entries)
            ],
            previous_url=_list_url(query, page - 1) if page > 1 else "",
            next_url=_list_url(query, page + 1) if page < pages else "",
        )

    def decision_page(self, number: int, query: Query, place: int) -> str | None:
        """The page of one entry of the list.

        Args:
            number: The number of the entry.
            query: The list that the reader comes from.
            place: The place of the entry in that list, negative if unknown.

        Returns:
            The page, None if there is no such entry.
        """
        entry = self._index.entry(number)
        if entry is None:
            return None
        if place >= 0:
            at_place = self._index.entries(query, place, 1)
            if not at_place or at_place[0]["number"] != number:
                place = -1
        sides = [self._side(side, entry[side]) for side in _SIDES[: len(self._index.sources)]]
        question = self._question(entry)
        return self._render(
            "decision.html",
            title=beginning(question)[:80] or entry["prompt_id"],
            entry=entry,
            question=question,
            question_beginning=_fold(question),
            sides=sides,
            list_url=f"{_list_url(query, max(0, place) // PAGE_SIZE + 1)}#entry-{number}",
            search_url=f"{_list_url(query, 1)}#q",
            previous_url=self._neighbour_url(query, place - 1),
            next_url=self._neighbour_url(query, place + 1) if place >= 0 else "",
        )

    def message_page(self, message: str) -> str:
        """A page that says one thing."""
        return self._render("message.html", title="DARC", message=message)

    def _render(self, name: str, **values: Any) -> str:
        template = environment(_FOLDER).get_template(name)
        html: str = template.render(
            comparison=self._comparison,
            sources=self._titles,
            known_scale=all(source.known_scale for source in self._index.sources),
            **values,
        )
        return html

    def _filters(self) -> list[tuple[str, str]]:
        filters = dict(FILTERS)
        if self._index.compares:
            filters |= CHANGE_FILTERS
        return [(name, title) for name, (title, _) in filters.items()]

    def _orders(self) -> list[tuple[str, str]]:
        orders = dict(ORDERS)
        if self._index.compares:
            orders |= CHANGE_ORDERS
        return [(name, title) for name, (title, _) in orders.items()]

    def _side(self, side: str, row: Mapping[str, Any] | None) -> _Side:
        place = _SIDES.index(side)
        title = self._titles[place]
        if row is None:
            return _Side(title, None, None, Markup(""), [])
        details = self._index.details(row["number"])
        view = self._index.sources[place].decision_view(details)
        figure = Markup("")
        if view.picture is not None:
            figure = dots_figure(view.picture, inline_style=False)
        flags = [(flag, flag_words(flag, FLAG_SENTENCES)) for flag in row["flags"].split()]
        return _Side(title, row, view, figure, flags)

    def _question(self, entry: Mapping[str, Any]) -> str:
        """The whole text of the prompt, empty if unknown."""
        for side in _SIDES:
            row = entry[side]
            if row is not None and row["question"]:
                return str(self._index.details(row["number"])["question"])
        return ""

    def _neighbour_url(self, query: Query, place: int) -> str:
        """The page of the entry at a place of the list, empty if there is none."""
        if place < 0:
            return ""
        for entry in self._index.entries(query, place, 1):
            return _decision_url(entry["number"], query, place)
        return ""


def _list_url(query: Query, page: int) -> str:
    parameters: dict[str, str] = query.parameters()
    if page > 1:
        parameters["page"] = str(page)
    if not parameters:
        return "/"
    return f"/?{urlencode(parameters)}"


def _decision_url(number: int, query: Query, place: int) -> str:
    parameters = {**query.parameters(), "at": str(place)}
    return f"/decision/{number}?{urlencode(parameters)}"


def _fold(question: str) -> str:
    """The beginning of a long question, empty for one that is shown whole."""
    if len(question) <= _MAX_QUESTION_LENGTH:
        return ""
    return beginning(question)
