"""From what a process told to answers: what works under a start method, what fails, what is worth a warning."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from dllint.runtime.probe import symptoms
from dllint.runtime.probe.messages import Compared, Contents, Part
from dllint.runtime.probe.observed import Observed
from dllint.runtime.probe.report import ENOUGH, Answer, Method, Verdict

FORK = "fork"
GROWTH = 20.0
"""MB that workers take while they read, from which on it is a warning, when something is seen to hold them."""
UNEXPLAINED = 100.0
"""The same when nothing is."""
SUSPECT = 10.0
"""MB that each worker takes per 1,000 items, from which on a reading that was too short for a warning is not "ok"."""
HEAVY = 20e6
"""Bytes of Python objects of which each worker has a copy."""
SHOWN = 8
"""Variables that are named."""
_STAGES = {
    "load": "loads",
    "start": "workers start",
    "compare": "items survive",
    "end": "workers end",
    "start again": "second epoch",
    "read again": "second epoch",
}


def method(name: str, used: bool, observed: Observed, contents: Contents | None) -> Method:
    """All answers for a start method."""
    answers = tuple(_answers(name, observed, contents))
    shared, read, ending = observed.shared, observed.read, observed.ending
    paced = sum(pace.items for pace in observed.paces.values())
    reading = sum(pace.reading for pace in observed.paces.values())
    collating = sum(pace.collating for pace in observed.paces.values())
    failed = any(answer.verdict is Verdict.FAILS for answer in answers)
    return Method(
        name,
        used,
        answers,
        tuple(observed.samples),
        read.items if read else observed.progress,
        read.seconds if read else 0.0,
        1000 * reading / paced if paced else None,
        1000 * collating / paced if paced else None,
        shared.descriptors if shared else None,
        shared.megabytes if shared else None,
        ending.output[-4000:] if ending and failed else "",
        ending.printed if ending else 0,
    )


def _answers(name: str, observed: Observed, contents: Contents | None) -> Iterator[Answer]:
    broke = _broke_at(observed)
    if broke == "loads":
        yield symptoms.failure(broke, observed)
        return
    yield Answer("loads", Verdict.OK)
    yield _pickles(name, contents)
    if broke == "workers start":
        yield symptoms.failure(broke, observed)
        return
    yield Answer("workers start", Verdict.OK, f"{len({seeds.worker for seeds in observed.seeds})} of them")
    if observed.unpicklable:
        parts = observed.unpicklable[0].parts
        yield Answer("items come back", Verdict.FAILS, "what workers read does not pickle", "DLL111", parts)
        return
    yield symptoms.failure("reads", observed) if broke == "reads" else _complete(observed)
    if observed.read is not None:
        yield Answer("items come back", Verdict.OK)
    yield from _random(observed)
    if observed.loaded is not None and observed.loaded.iterable:
        yield _shards(observed)
    yield from _survive(name, observed, contents)
    yield from _memory(name, observed, contents)
    if broke not in ("", "reads"):
        yield symptoms.failure(broke, observed)


def _broke_at(observed: Observed) -> str:
    """The question at which the process ended before it was done, or ""."""
    if observed.done and observed.ending is not None and not observed.ending.why:
        return ""
    if observed.done:
        return "workers end"
    if observed.stage == "read" and not observed.seeds:
        return "workers start"
    return _STAGES.get(observed.stage, "reads")


def _pickles(name: str, contents: Contents | None) -> Answer:
    question = "shipped objects pickle"
    if name == FORK:
        return Answer(question, Verdict.UNKNOWN, "not needed")
    if contents is None:
        return Answer(question, Verdict.UNKNOWN, "not known")
    if not contents.culprits:
        return Answer(question, Verdict.OK, f"{contents.pickled / 1e6:,.1f} MB for each worker")
    count = len(contents.culprits)
    return Answer(question, Verdict.FAILS, f"{count} do{'es' * (count == 1)} not", parts=contents.culprits)


def _complete(observed: Observed) -> Answer:
    read = observed.read
    if read is None:
        return Answer("reads", Verdict.UNKNOWN)
    if read.expected is not None and read.batches < read.expected:
        iterable = observed.loaded is not None and observed.loaded.iterable
        text = f"the epoch ended after {read.batches} of {read.expected} batches"
        return Answer("reads", Verdict.WARNS if iterable else Verdict.FAILS, text, "" if iterable else "DLL407")
    return Answer("reads", Verdict.OK, f"{read.items:,} items")


def _random(observed: Observed) -> Iterator[Answer]:
    """Whether workers, and epochs, draw the same."""
    question = "random streams differ"
    used = {name for seeds in observed.seeds for name in seeds.used}
    places = {name: where for seeds in observed.seeds for name, where in seeds.places.items()}
    began = [seeds for seeds in observed.seeds if not seeds.used] + [seeds for seeds in observed.seeds if seeds.used]
    bad = []
    for name in sorted(used):
        first: dict[tuple[int, int], str] = {}
        for seeds in began:
            if name in seeds.states:
                first.setdefault((seeds.epoch, seeds.worker), seeds.states[name])
        if repeats := _repeats(first):
            rule = "DLL606" if name in ("random", "torch", "numpy.random") else "DLL602"
            bad.append(Part(_from_loader(name), f"begins the same in {repeats}", places.get(name, ()), rule))
    if bad:
        yield Answer(question, Verdict.FAILS, bad[0].what, bad[0].rule, tuple(bad))
    elif used:
        yield Answer(question, Verdict.OK, f"{', '.join(map(_from_loader, sorted(used)))}")


def _from_loader(name: str) -> str:
    return f"loader.{name}" if name.startswith("dataset") else name


def _repeats(first: dict[tuple[int, int], str]) -> str:
    """What begins with one and the same state: workers of the first epoch, or one worker in two epochs."""
    workers = Counter(state for (epoch, _), state in first.items() if not epoch)
    between = any(first.get((1, worker)) == state for (epoch, worker), state in first.items() if not epoch)
    named = ["all workers"] * any(count > 1 for count in workers.values()) + ["every epoch"] * between
    return " and ".join(named)


def _shards(observed: Observed) -> Answer:
    """Whether workers of an iterable dataset yield the same."""
    question = "workers share the items"
    readers: dict[str, set[int]] = defaultdict(set)
    for item in observed.items:
        if not item.epoch:
            readers[item.digest].add(item.worker)
    workers = {worker for found in readers.values() for worker in found}
    if len(workers) < 2:
        return Answer(question, Verdict.UNKNOWN, "one worker only")
    twice = sum(len(found) > 1 for found in readers.values())
    if 2 * twice < len(readers):
        return Answer(question, Verdict.OK, f"{len(readers)} different items looked at")
    return Answer(question, Verdict.FAILS, f"{twice} of {len(readers)} items come from several workers", "DLL601")


def _survive(name: str, observed: Observed, contents: Contents | None) -> Iterator[Answer]:
    """Whether workers read what the main process reads, with the handles that they inherited or made."""
    compared = observed.compared
    handles = contents.handles if contents else ()
    if compared is None or not (compared.same or compared.different):
        if handles:
            yield Answer("items survive", Verdict.UNKNOWN, "items are random, or of an iterable", "", handles)
        return
    named = f", with {len(handles)} handle{'s' * (len(handles) > 1)}" if handles else ""
    if compared.different:
        text = f"{compared.different} batches differ from what the main process reads{named}: {_named(compared)}"
        rule = "DLL106" if handles else "" if name == FORK else "DLL609"
        yield Answer("items survive", Verdict.FAILS, text, rule, handles or tuple(_state(observed)))
    else:
        text = f"{compared.same} batches are the same in the main process{named}"
        yield Answer("items survive", Verdict.OK, text, "", handles)


def _named(compared: Compared) -> str:
    """The first batches that differ, by their indices."""
    more = "; ..." if compared.different > len(compared.different_keys) else ""
    return "; ".join(f"{key:.40}" for key in compared.different_keys) + more


def _state(observed: Observed) -> Iterator[Part]:
    """What modules keep in the main process and not in a worker: the values that may make the difference."""
    theirs = {(variable.path, variable.name): variable for variable in observed.state.get(0, ())}
    different = 0
    for mine in observed.state.get(-1, ()):
        other = theirs.get((mine.path, mine.name))
        missing = other is None and any(path == mine.path for path, _ in theirs)
        if different < SHOWN and (missing or (other is not None and other.digest != mine.digest)):
            different += 1
            seen = "not set" if other is None else other.shown
            what = f"{mine.shown} in the main process, {seen} in workers"
            yield Part(f"{mine.path}: {mine.name}", what, rule="DLL609")


def _memory(name: str, observed: Observed, contents: Contents | None) -> Iterator[Answer]:
    """Whether workers grow while they read, or hold a copy of many objects from the start, and of which."""
    samples = observed.samples
    if len(samples) < 2 or not samples[0].private:
        return
    grown = sum(samples[-1].private) - sum(samples[0].private)
    text = f"{samples[0].total:,.0f} -> {samples[-1].total:,.0f} MB in all, each worker {_each(observed)} MB"
    containers = {grown.part.path: grown for grown in observed.grown.values() if grown.after - grown.before > 50}
    holders = [part for part in (contents.holders if contents else ()) if part.bytes > HEAVY / 4]
    if grown < (GROWTH if containers or (holders and name == FORK) else UNEXPLAINED):
        copied = sum(part.bytes for part in holders)
        if name != FORK and copied > HEAVY:
            said = f"each worker holds a copy of {copied / 1e6:,.0f} MB of Python objects"
            yield Answer("memory", Verdict.WARNS, f"{text}; {said}", holders[0].rule, tuple(holders))
        elif (pace := _pace(observed)) >= SUSPECT:
            said = f"{pace:+,.0f} MB a worker per 1,000 items: too few were read to tell warming up from growing"
            yield Answer("memory", Verdict.UNKNOWN, f"{text}; {said}; `--items` and `--seconds` read more")
        else:
            yield Answer("memory", Verdict.OK, text)
    elif containers:
        parts = tuple(_from(entry.part, entry.before, entry.after) for entry in containers.values())
        yield Answer("memory", Verdict.WARNS, f"grows: {text}", "DLL204", parts)
    elif name == FORK and holders:
        yield Answer("memory", Verdict.WARNS, f"grows: {text}", holders[0].rule, tuple(holders))
    else:
        yield Answer("memory", Verdict.WARNS, f"grows: {text}")


def _pace(observed: Observed) -> float:
    """MB that each worker took per 1,000 items; 0 where so few were read that nothing can be said."""
    first, last = observed.samples[0], observed.samples[-1]
    items = last.items - first.items
    grown = sum(last.private) - sum(first.private)
    return 1000 * grown / len(last.private) / items if items >= ENOUGH and last.private else 0.0


def _each(observed: Observed) -> str:
    first, last = observed.samples[0].private, observed.samples[-1].private
    return f"{sum(first) / len(first):,.0f} -> {sum(last) / len(last):,.0f}"


def _from(part: Part, before: int, after: int) -> Part:
    return Part(_from_loader(part.path), f"{part.what} that grew from {before:,} to {after:,}", part.places, "DLL204")
