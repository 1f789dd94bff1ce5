"""What all tests need: a cache of their own, examples that a busy machine may take its time for, a small heap."""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("dllint", deadline=None, suppress_health_check=(HealthCheck.too_slow,))
settings.load_profile("dllint")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """The tests themselves are no garbage: no search for any goes through all of them, while they grow or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Commands, also those run in processes of their own, keep nothing in the user's folders."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DLLINT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
