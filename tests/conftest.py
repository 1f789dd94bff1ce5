"""What all tests need: a cache of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Commands, also those run in processes of their own, keep nothing in the user's folders."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DLLINT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
