"""The design of a stored study, from which plans are made."""

import math

from sqlalchemy import Connection, select

from darc.study import schema
from darc.study.config import Config
from darc.study.plan import Design


def design_of(connection: Connection, config: Config) -> Design:
    """The design that plans are made from, read back from the store."""
    units = schema.units
    query = select(units.c.kind, units.c.prompt_id).order_by(units.c.kind, units.c.number)
    rows = connection.execute(query).all()
    prompts: dict[str, int] = {}
    places = [prompts.setdefault(name, len(prompts)) for kind, name in rows if kind == "item"]
    study = config.study
    panel = config.panel
    if panel is None:
        panel = math.ceil(len(places) * study.ratings / (study.items_each or len(places)))
    return Design(
        prompts=tuple(places),
        attention=sum(kind == "attention" for kind, _ in rows),
        gold=sum(kind == "gold" for kind, _ in rows),
        ratings=study.ratings,
        panel=max(1, panel),
        share=config.quality.share,
        seed=study.seed,
    )
