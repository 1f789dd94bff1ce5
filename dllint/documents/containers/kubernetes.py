"""Kubernetes manifests: a memory-backed volume at /dev/shm, or `hostIPC`, wherever a pod is described."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.documents.containers.container import MOUNT, Container, words_of
from dllint.documents.containers.nodes import (
    Node,
    add_entry,
    add_item,
    documents,
    entries,
    items,
    scalars,
    text_of,
    walk,
)
from dllint.fix import Edit
from dllint.source import Source, Span

_VOLUME = "dshm"


def containers(source: Source) -> Iterator[Container]:
    """The containers of all pods, also of those that a job or a custom resource describes."""
    for document in documents(source.text):
        for key, pod in _pods(document):
            found = {name: value for name, (_, value) in entries(pod).items()}
            for item in items(found["containers"]):
                container = {name: value for name, (_, value) in entries(item).items()}
                if "image" not in container:
                    continue
                name = text_of(container.get("name"))
                place = container.get("name", container["image"])
                yield Container(
                    path=source.path,
                    span=Span(place.start_mark.index, place.end_mark.index),
                    name=name,
                    what=f"container `{name}`" if name else "container",
                    enough=text_of(found.get("hostIPC")).lower() == "true" or _is_mounted(container),
                    gpu=_has_gpu(container),
                    image=text_of(container["image"]),
                    words=words_of([*scalars(container.get("command")), *scalars(container.get("args"))]),
                    remedy=f"an `emptyDir` of `medium: Memory` mounted at `{MOUNT}`",
                    edits=_edits(source, key, pod, found["containers"], item),
                )


def _pods(document: Node) -> Iterator[tuple[Node, Node]]:
    """Mappings with `containers`, each with the key whose value it is."""
    if "apiVersion" not in entries(document):
        return
    for node in walk(document):
        for key, value in entries(node).values():
            if items(entries(value).get("containers", (None, None))[1]):
                yield key, value


def _is_mounted(container: dict[str, Node]) -> bool:
    mounts = (entries(item).get("mountPath") for item in items(container.get("volumeMounts")))
    return any(text_of(mount[1]).rstrip("/") == MOUNT for mount in mounts if mount)


def _has_gpu(container: dict[str, Node]) -> bool:
    resources = container.get("resources")
    return resources is not None and any("gpu" in text_of(node) for node in walk(resources))


def _edits(source: Source, key: Node, pod: Node, sequence: Node, container: Node) -> tuple[Edit, ...]:
    """The mount in the container and the volume in the pod; nothing where one of them cannot be written."""
    own, above = entries(container), entries(pod)
    volumes = {
        text_of(entries(item).get("name", (None, None))[1]) for item in items(above.get("volumes", (key, key))[1])
    }
    mount = [f"name: {_VOLUME}", f"mountPath: {MOUNT}"]
    volume = [f"name: {_VOLUME}", "emptyDir:", "  medium: Memory"]
    written = (
        _added(source, own, "volumeMounts", sequence, container, mount, ", ".join(mount)),
        _added(source, above, "volumes", key, pod, volume, f"name: {_VOLUME}, emptyDir: {{medium: Memory}}"),
    )
    if _VOLUME in volumes or None in written:
        return ()
    return tuple(edit for edit in written if edit is not None)


def _added(
    source: Source, known: dict[str, tuple[Node, Node]], name: str, after: Node, owner: Node, item: list[str], flow: str
) -> Edit | None:
    """An item of the sequence `name` of a mapping, or the sequence with this item."""
    if name in known:
        return add_item(source, *known[name], item, f"{{{flow}}}")
    block = [f"{name}:", *(f"{'- ' if number == 0 else '  '}{line}" for number, line in enumerate(item))]
    return add_entry(source, after, owner, block, f"{name}: [{{{flow}}}]")
