"""Compose files: `shm_size`, `ipc`, or something mounted at /dev/shm, by service."""

from __future__ import annotations

from collections.abc import Iterator

from dllint.documents.containers.container import MOUNT, SIZE, Container, beside, words_of
from dllint.documents.containers.nodes import Node, add_entry, documents, entries, items, scalars, text_of, walk
from dllint.source import Source, Span

_REMEDY = f"shm_size: {SIZE}b"


def containers(source: Source) -> Iterator[Container]:
    """The services of a compose file that have an image. What `extends` takes from elsewhere is taken for enough."""
    for document in documents(source.text):
        services = entries(document).get("services")
        for name, (key, service) in entries(services[1] if services else None).items():
            found = {word: value for word, (_, value) in entries(service).items()}
            if not found.keys() & {"image", "build"}:
                continue
            edit = add_entry(source, key, service, [_REMEDY], _REMEDY)
            yield Container(
                path=source.path,
                span=Span(key.start_mark.index, key.end_mark.index),
                name=name,
                what=f"service `{name}`",
                enough=bool(found.keys() & {"shm_size", "ipc", "extends"}) or _is_mounted(found),
                gpu=_has_gpu(found),
                folder=_folder(source.path, found),
                image="" if "build" in found else text_of(found["image"]),
                words=words_of([*scalars(found.get("entrypoint")), *scalars(found.get("command"))]),
                remedy=f"`{_REMEDY}` (or `ipc: host`)",
                edits=(edit,) if edit is not None else (),
            )


def _is_mounted(service: dict[str, Node]) -> bool:
    for name in ("volumes", "tmpfs"):
        for item in [service[name], *items(service[name])] if name in service else ():
            target = entries(item).get("target")
            places = text_of(target[1] if target else item).split(":")
            if MOUNT in (place.rstrip("/") for place in places):
                return True
    return False


def _has_gpu(service: dict[str, Node]) -> bool:
    if "gpus" in service or text_of(service.get("runtime")) == "nvidia":
        return True
    deploy = service.get("deploy")
    words = {text_of(node) for node in walk(deploy)} if deploy is not None else set()
    return bool(words & {"gpu", "nvidia"})


def _folder(path: str, service: dict[str, Node]) -> str | None:
    """The folder that the service is built of, or that is mounted into it as a whole."""
    build = service.get("build")
    if build is not None:
        context = entries(build).get("context")
        return beside(path, text_of(context[1]) if context else text_of(build) or ".")
    for item in items(service.get("volumes")):
        mount = entries(item).get("source")
        place = text_of(mount[1]) if mount else text_of(item).partition(":")[0]
        if place in (".", "./", "..", "../"):
            return beside(path, place)
    return None
