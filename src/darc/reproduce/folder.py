"""Where the results of an experiment are, inside its folder."""

from dataclasses import dataclass
from pathlib import Path

from darc.reproduce.names import PoolName, folder_name


@dataclass(frozen=True)
class ExperimentFolder:
    """The paths of an experiment."""

    path: Path

    def prompts(self, benchmark: str, ending: str) -> Path:
        """A file of prompts that was downloaded or made."""
        return self.path / "prompts" / f"{folder_name(benchmark)}{ending}"

    def pool(self, pool: PoolName) -> Path:
        """The run folder in which a pool was written."""
        return self.path / "pools" / folder_name(str(pool))

    def run(self, pool: PoolName, family: str, usual: str) -> Path:
        """The run folder of the rewrites and scores of a pool."""
        return self.path / "runs" / folder_name(pool.with_family(family, usual))

    def timed(self, n_aug: int) -> Path:
        """The run folder of a measured run of the latency table."""
        return self.path / "latency" / f"n_aug-{n_aug}"

    def pairs(self, name: str) -> Path:
        """Preference pairs, or typical answers."""
        return self.path / "training" / f"{folder_name(name)}.jsonl"

    def policy(self, generator: str, policy: str) -> Path:
        """A trained policy."""
        return self.path / "training" / folder_name(f"{generator} {policy}")

    @property
    def caution(self) -> Path:
        """The folder of the model of atypical answers."""
        return self.path / "training" / "caution"

    def evaluation(self, generator: str, benchmark: str) -> Path:
        """The evaluation of a generator on a benchmark."""
        return self.path / "evaluation" / folder_name(f"{generator} {benchmark}")

    @property
    def tables(self) -> Path:
        """The tables in the paper's layout."""
        return self.path / "tables"

    @property
    def figures(self) -> Path:
        """The paper's figures."""
        return self.path / "figures"

    @property
    def page(self) -> Path:
        """The page that shows everything."""
        return self.path / "index.html"
