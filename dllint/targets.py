"""Where the checked project must run, and where a hazard of a start method therefore shows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import msgspec

from dllint.knowledge import Boundary
from dllint.start_methods import START_METHODS, Default

_NAMES = {"linux": "Linux", "macos": "macOS", "windows": "Windows"}


@lru_cache
def _allows(specifier: str, versions: tuple[str, ...]) -> bool:
    """Whether a specifier allows any of some minor versions."""
    from packaging.specifiers import SpecifierSet

    specifiers = SpecifierSet(specifier)
    return any(specifiers.contains(f"{version}.{patch}") for version in versions for patch in (0, 99))


class Targets(msgspec.Struct, frozen=True):
    """What the configuration says of the project's platforms, Pythons and own vocabulary."""

    platforms: tuple[str, ...] = ("linux", "macos", "windows")
    pythons: str = ""
    """A PEP 440 specifier such as ">=3.10"; empty allows every Python."""
    start_method: str = ""
    """The start method that the project always uses; empty: each platform's default."""
    root: str = ""
    """The folder whose requirements count; "" where there is none."""
    scripts: tuple[str, ...] = ()
    """The modules of the package's console scripts."""
    packages: tuple[str, ...] = ()
    """The folders, relative to the root, with files that declare an installable package."""
    loaders: Mapping[str, Boundary] = {}
    """What other packages and the configuration know of loaders, with what they ship."""
    dataset_bases: tuple[str, ...] = ()
    unpicklable_types: tuple[str, ...] = ()
    src: tuple[str, ...] = ()

    def allows_python(self, versions: tuple[str, ...]) -> bool:
        """Whether any of these minor versions is a target."""
        return not self.pythons or _allows(self.pythons, versions)

    def needs_numpy_2(self, path: str) -> bool:
        """Whether all that is said near a file rules out NumPy 1; what is not known may be either."""
        from dllint import requirements

        return bool(self.root) and requirements.only_from("numpy", 2, self.root, path)

    def may_have_torch_1(self, path: str) -> bool:
        """Whether a version that is said near a file allows torch 1; what is not said is the newest."""
        from dllint import requirements

        return bool(self.root) and requirements.may_be_below("torch", 2, self.root, path)

    def has_old_lambda(self, path: str) -> bool:
        """Whether torchvision is asked for before 0.2.2, whose `transforms.Lambda` takes nothing but functions."""
        from dllint import requirements

        return bool(self.root) and requirements.only_before("torchvision", "0.2.2", self.root, path)

    @property
    def meant(self) -> str:
        """Equal for targets that mean the same, however they are written."""
        told = [self._may_run(default) for method in START_METHODS for default in method.defaults]
        return repr((told, msgspec.structs.replace(self, pythons="")))

    def on(self, platforms: tuple[str, ...]) -> Targets:
        """The same targets on some of the platforms only."""
        return msgspec.structs.replace(self, platforms=platforms)

    def running(self, python: str) -> Targets:
        """The same targets with one minor version of Python only."""
        return msgspec.structs.replace(self, pythons=f"=={python}.*")

    def methods(self) -> frozenset[str]:
        """The start methods that workers get on the declared targets by default."""
        if self.start_method:
            return frozenset({self.start_method})
        return frozenset(method.name for method in START_METHODS if any(map(self._may_be, method.defaults)))

    def _may_be(self, default: Default) -> bool:
        """Whether a declared target has this platform and one of these Pythons."""
        return default.platform in self.platforms and self._may_run(default)

    def _may_run(self, default: Default) -> bool:
        return not default.pythons or self.allows_python(default.pythons)

    def where(self, failing: frozenset[str]) -> str:
        """The declared targets whose default start method is one of these, in words; "" for none."""
        if self.start_method:
            return f"with start method {self.start_method}" if self.start_method in failing else ""
        words: dict[str, None] = {}
        for method in START_METHODS:
            for default in method.defaults if method.name in failing else ():
                if self._may_be(default) and _NAMES[default.platform] not in words:
                    words[self._word(default)] = None
        *places, last = [*words] or [""]
        return "on " + (f"{', '.join(places)} and {last}" if places else last) if last else ""

    def _word(self, default: Default) -> str:
        """A platform, or the first Python that has this default where another one comes before it."""
        first = next(
            known
            for method in START_METHODS
            for known in method.defaults
            if known.platform == default.platform and self._may_be(known)
        )
        return _NAMES[default.platform] if first is default else f"Python {default.pythons[0]}+"
