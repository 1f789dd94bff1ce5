"""Where the checked project must run, and where a hazard of a start method therefore shows."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from dllint.knowledge import Boundary

FORK, SPAWN, FORKSERVER = "fork", "spawn", "forkserver"
ALL_METHODS = frozenset({FORK, SPAWN, FORKSERVER})
PICKLING = frozenset({SPAWN, FORKSERVER})
"""The start methods that pickle what workers are given."""
_OLD = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13")
_NEW = ("3.14", "3.15", "3.16")


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
    loaders: Mapping[str, Boundary] = {}
    """What other packages know of loaders, with what they ship."""
    loader_classes: tuple[str, ...] = ()
    dataset_bases: tuple[str, ...] = ()
    unpicklable_types: tuple[str, ...] = ()
    src: tuple[str, ...] = ()

    def allows_python(self, versions: tuple[str, ...]) -> bool:
        """Whether any of these minor versions is a target."""
        if not self.pythons:
            return True
        from packaging.specifiers import SpecifierSet

        specifiers = SpecifierSet(self.pythons)
        return any(specifiers.contains(f"{version}.{patch}") for version in versions for patch in (0, 99))

    def needs_numpy_2(self, path: str) -> bool:
        """Whether all that is said near a file rules out NumPy 1; what is not known may be either."""
        from dllint import requirements

        return bool(self.root) and requirements.only_from("numpy", 2, self.root, path)

    @property
    def meant(self) -> str:
        """Equal for targets that mean the same, however they are written."""
        told = self.allows_python(_OLD), self.allows_python(_NEW)
        return repr((told, msgspec.structs.replace(self, pythons="")))

    def on(self, platforms: tuple[str, ...]) -> Targets:
        """The same targets on some of the platforms only."""
        return msgspec.structs.replace(self, platforms=platforms)

    def methods(self) -> frozenset[str]:
        """The start methods that workers get on the declared targets when nobody chooses one."""
        if self.start_method:
            return frozenset({self.start_method})
        found = set()
        if "linux" in self.platforms:
            found |= {FORK} if self.allows_python(_OLD) else set()
            found |= {FORKSERVER} if self.allows_python(_NEW) else set()
        if "macos" in self.platforms or "windows" in self.platforms:
            found.add(SPAWN)
        return frozenset(found)

    def where(self, failing: frozenset[str]) -> str:
        """The declared targets whose default start method is one of these, in words; "" for none."""
        if self.start_method:
            return f"with start method {self.start_method}" if self.start_method in failing else ""
        places = []
        linux = "linux" in self.platforms
        if FORK in failing and linux and self.allows_python(_OLD):
            places.append("Linux")
        if SPAWN in failing:
            places += [name for key, name in (("macos", "macOS"), ("windows", "Windows")) if key in self.platforms]
        if FORKSERVER in failing and "Linux" not in places and linux and self.allows_python(_NEW):
            places.append("Python 3.14+" if self.allows_python(_OLD) else "Linux")
        if len(places) < 2:
            return "on " + "".join(places) if places else ""
        return "on " + ", ".join(places[:-1]) + " and " + places[-1]
