"""What to paste where a list of names cannot be replaced by itself."""

from __future__ import annotations

from dllint import ALL_METHODS, FORK, Applicability, Fix, Held, Kind, Project

_ARRAY = "{target} = np.array({items}, dtype={dtype})"
_TENSOR = '''\
class Names:
    """Strings in one tensor, which worker processes share."""

    def __init__(self, names):
        encoded = [os.fsencode(name) for name in names]
        self.ends = torch.tensor([0, *map(len, encoded)]).cumsum(0)
        self.data = torch.frombuffer(bytearray(b"".join(encoded)), dtype=torch.uint8)

    def __len__(self):
        return len(self.ends) - 1

    def __getitem__(self, index):
        start, end = self.ends[index : index + 2].tolist()
        return os.fsdecode(self.data[start:end].numpy().tobytes())


{target} = Names({target})'''


def by_hand(project: Project, held: Held, why_not: str) -> Fix:
    """An array for workers that are forked, a tensor for those that are spawned, in the project's own names."""
    step = held.route[0]
    target = project.text(step.path, step.span)
    reason = f"; {why_not}" if why_not else ""
    if FORK not in project.failing(held, ALL_METHODS):
        title = f"Keep `{held.holder.name}` as bytes in a tensor{reason}"
        return Fix(title, (), Applicability.MANUAL, snippet=_TENSOR.format(target=target))
    paths = project.listings.of(held.value) is Kind.PATH
    items = f"[str(path) for path in {target}]" if paths else target
    dtype = "str" if project.targets.only_numpy_1() else "np.dtypes.StringDType()"
    again = f"\n# and Path({target}[index]) where a Path is needed" if paths else ""
    snippet = _ARRAY.format(target=target, items=items, dtype=dtype) + again
    return Fix(f"Keep `{held.holder.name}` as a NumPy array{reason}", (), Applicability.MANUAL, snippet=snippet)
