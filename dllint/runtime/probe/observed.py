"""What one process of a probe told, in order, and how it ended."""

from __future__ import annotations

import glob
import os
import re
from dataclasses import dataclass, field

from dllint.runtime.probe import places
from dllint.runtime.probe.contain import Ending
from dllint.runtime.probe.messages import (
    Compared,
    Contents,
    Done,
    Failed,
    Grown,
    Item,
    Loaded,
    Message,
    Misused,
    Pace,
    Place,
    Progress,
    Read,
    Sample,
    Seeds,
    Shared,
    Speed,
    Stage,
    State,
    Unpicklable,
    Variable,
)

_FRAME = re.compile(r'^  File "(?P<path>[^"]+)", line (?P<line>\d+) in (?P<name>\S+)$', re.MULTILINE)


@dataclass
class Observed:
    """Filled as messages arrive."""

    stage: str = ""
    loaded: Loaded | None = None
    contents: Contents | None = None
    samples: list[Sample] = field(default_factory=list)
    progress: int = 0
    paces: dict[int, Pace] = field(default_factory=dict)
    """Of the first epoch, by worker."""
    seeds: list[Seeds] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    unpicklable: list[Unpicklable] = field(default_factory=list)
    grown: dict[tuple[int, str], Grown] = field(default_factory=dict)
    shared: Shared | None = None
    read: Read | None = None
    compared: Compared | None = None
    state: dict[int, tuple[Variable, ...]] = field(default_factory=dict)
    """What modules kept at first, by worker."""
    speed: list[Speed] = field(default_factory=list)
    failed: Failed | None = None
    misused: str = ""
    done: bool = False
    ending: Ending | None = None
    stacks: dict[str, Place] = field(default_factory=dict)
    """Where the processes were, in the project's own code, when they were stopped."""

    def take(self, message: Message) -> None:
        match message:
            case Stage():
                self.stage = message.name
            case Loaded():
                self.loaded = message
            case Contents():
                self.contents = message
            case Sample():
                self.samples.append(message)
            case Progress():
                self.progress = message.items
            case Pace():
                if message.worker not in self.paces or message.items >= self.paces[message.worker].items:
                    self.paces[message.worker] = message
            case Seeds():
                self.seeds.append(message)
            case Item():
                self.items.append(message)
            case Unpicklable():
                self.unpicklable.append(message)
            case Grown():
                key = message.worker, message.part.path
                self.grown[key] = max(message, self.grown.get(key, message), key=lambda grown: grown.after)
            case Shared():
                self.shared = message
            case Read():
                self.read = message
            case Compared():
                self.compared = message
            case State():
                self.state.setdefault(message.worker, message.variables)
            case Speed():
                self.speed.append(message)
            case Failed():
                self.failed = message
            case Misused():
                self.misused = message.message
            case Done():
                self.done = True

    def read_stacks(self, folder: str) -> None:
        """Where the processes were."""
        for file in sorted(glob.glob(os.path.join(folder, "*.stacks"))):
            with open(file, encoding="utf-8", errors="replace") as stream:
                frames = list(_FRAME.finditer(stream.read()))
            own = [frame for frame in frames if places.own(frame["path"])]
            if own:
                name = os.path.basename(file).removesuffix(".stacks")
                self.stacks[name] = places.place(own[0]["path"], int(own[0]["line"]))
