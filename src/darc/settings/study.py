"""The options of `darc study` and its actions; `study.toml` has settings of its own."""

from pathlib import Path
from typing import ClassVar, Literal

from darc.settings.general import CommandSettings, ForceSettings, JsonSettings, SeedSettings
from darc.settings.limits import ListeningSettings
from darc.settings.method import SearchSettings
from darc.settings.model import SettingsModel, option, same_option
from darc.settings.serve import AddressSettings


class DatabaseSettings(CommandSettings):
    """Where the study is stored."""

    subject: ClassVar[str] = "options"

    database: str | None = option(
        None,
        "the database: a file, or postgresql://... (default: $DARC_STUDY_DATABASE, or study.db)",
        "PLACE",
        common=True,
    )


class LinkSettings(SettingsModel):
    """What the links of annotators begin with."""

    subject: ClassVar[str] = "links"

    url: str | None = option(
        None,
        "what links begin with, such as https://study.example.org (default: what was last given)",
        "URL",
        common=True,
    )
    root_path: str | None = option(None, "the path under a proxy, such as /study", "PATH")
    port: int | None = same_option(
        AddressSettings,
        "port",
        default=None,
        text="the port of the pages (default: the last one, or 8710)",
    )


class InitSettings(DatabaseSettings, LinkSettings, SeedSettings):
    """The options of `darc study init`."""

    file: Path = option(
        Path("study.toml"), "the settings of the study (default: study.toml)", positional=True
    )
    items: tuple[str, ...] = option(
        (), "write study.toml first, with these items (JSON lines)", "FILE", nargs="+", common=True
    )
    template: Literal["helpfulness", "safety", "pairwise"] | None = option(
        None, "the texts that study.toml begins with (default: helpfulness)", common=True
    )
    mode: Literal["scalar", "pairwise"] | None = option(
        None,
        "what annotators do: rate each answer, or compare two (as --template pairwise)",
    )
    annotators: str = option("5", "how many annotators, or: open", "N", common=True)
    item_ratings: int = option(
        5, "how many valid ratings each item needs", "N", flag="--ratings", common=True, ge=1
    )
    adaptive: bool = same_option(
        SearchSettings,
        "adaptive",
        text="ask only for ratings that are worth it, at most --ratings per item on average",
        common=True,
    )


class LinksSettings(DatabaseSettings, LinkSettings):
    """The options of `darc study links`."""

    add: int | None = option(
        None,
        "make links for N more annotators, up to `most` in study.toml (1000)",
        "N",
        common=True,
    )
    renew: tuple[str, ...] = option(
        (), "replace the links of these annotators", "RATER", nargs="+", common=True
    )
    revoke: tuple[str, ...] = option(
        (), "make the links of these annotators stop working", "RATER", nargs="+", common=True
    )
    lead: bool = option(False, "make a new link for the lead", common=True)
    enrolment: bool = option(False, "make a new link for open enrolment", common=True)


class StudyServeSettings(DatabaseSettings, LinkSettings, ListeningSettings):
    """The options of `darc study serve`."""

    also_common: ClassVar[tuple[str, ...]] = (
        "root_path",
        "trusted_proxies",
        "allowed_hosts",
        "visitor_rate",
    )

    host: str | None = same_option(
        AddressSettings,
        "host",
        default=None,
        text="the address to listen on (default: 127.0.0.1)",
    )
    visitor_rate: float = option(600.0, "requests per minute and visitor", "N", ge=0)
    enrolment_rate: float = option(
        10.0, "open enrolments per minute and address (0: any number)", "N", ge=0
    )


class StatusSettings(JsonSettings, DatabaseSettings):
    """The options of `darc study status`."""


class ReviewSettings(DatabaseSettings):
    """The options of `darc study review`."""

    exclude: str | None = option(
        None, "set the ratings of this annotator aside", "RATER", exclusive="decision", common=True
    )
    reinstate: str | None = option(
        None, "undo the exclusion of this annotator", "RATER", exclusive="decision", common=True
    )
    clear_flags: str | None = option(
        None,
        "record that the flags of this annotator can be ignored",
        "RATER",
        exclusive="decision",
        common=True,
    )
    log: bool = option(False, "print every decision made so far", exclusive="decision", common=True)
    reason: str = option("", "why the annotator is excluded", "TEXT", common=True)


class CloseSettings(DatabaseSettings):
    """The options of `darc study close`."""

    force: bool = same_option(
        ForceSettings, "force", text="close the study even if items lack ratings"
    )


class StudyExportSettings(DatabaseSettings):
    """The options of `darc study export`."""

    folder: Path = option(..., "where the files go", positional=True)
    unblind: bool = option(
        False, "show which system wrote what even while the study is open", common=True
    )


class EraseSettings(DatabaseSettings):
    """The options of `darc study erase`."""

    rater: str = option(..., "the pseudonym of the person", positional=True)


class BackupSettings(DatabaseSettings):
    """The options of `darc study backup`."""

    file: Path = option(..., "where the copy goes", positional=True)
