"""What all tests need: a cache of their own, and examples that a busy machine may take its time for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("dllint", deadline=None, suppress_health_check=(HealthCheck.too_slow,))
settings.load_profile("dllint")


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Commands, also those run in processes of their own, keep nothing in the user's folders."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DLLINT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
