"""`darc cache`: the scores that are kept for later."""

from darc.cli.commands import Command
from darc.cli.output import print_json
from darc.settings.lists import CacheSettings


def run(settings: CacheSettings) -> None:
    """Print where the scores are kept, and how many there are."""
    from darc.engine.score_cache import ScoreCache

    with ScoreCache() as cache:
        if settings.clear:
            cache.clear()
        size = 0
        if cache.path.exists():
            size = cache.path.stat().st_size
        path = str(cache.path)
        count = len(cache)
    if settings.as_json:
        print_json({"path": path, "scores": count, "bytes": size})
    else:
        print(f"{path}: {count} scores, {size / 1e6:.1f} MB")


COMMAND = Command(CacheSettings, run)
