"""Container files: what is read of them, what the fix writes, and that everything else stays as it was."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from dllint import engine
from dllint.documents.containers import is_container_file, read
from dllint.documents.containers.container import Container
from dllint.engine import Request
from dllint.fix import apply
from dllint.registry import Layer
from dllint.source import Source
from dllint.testing.expectations import METHODS
from tests import claims

TRAIN = """\
from torch.utils.data import DataLoader


def main(dataset):
    for batch in DataLoader(dataset, num_workers=4):
        print(batch)
"""
SERVICE = "services:\n  train:\n    build: .\n"


def starved(path: str, text: str) -> list[Container]:
    return [container for container in read(Source(path, text)).containers if not container.enough]


def fixed(path: str, text: str) -> str:
    """The text with every container's own edits."""
    return apply(text, [edit for container in starved(path, text) for edit in container.edits])


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (SERVICE, SERVICE + "    shm_size: 8gb\n"),
        (SERVICE.rstrip("\n"), SERVICE + "    shm_size: 8gb"),
        ("services: {train: {image: t}}", "services: {train: {shm_size: 8gb, image: t}}"),
        (
            "services:\r\n  train:\r\n    image: 't' # tag\r\n    command: x\r\n",
            "services:\r\n  train:\r\n    image: 't' # tag\r\n    shm_size: 8gb\r\n    command: x\r\n",
        ),
        (
            "services:\n  train: &base\n    # built\n    build:\n      context: .\n    tty: true\n",
            "services:\n  train: &base\n    # built\n    build:\n      context: .\n    tty: true\n    shm_size: 8gb\n",
        ),
        (
            "services:\n  train:\n    build:\n      context: .\n    command: |\n      #\n",
            "services:\n  train:\n    shm_size: 8gb\n    build:\n      context: .\n    command: |\n      #\n",
        ),
    ],
)
def test_a_service_gets_the_setting_and_nothing_else_changes(text: str, after: str) -> None:
    assert fixed("compose.yaml", text) == after
    before = yaml.safe_load(text)
    before["services"]["train"]["shm_size"] = "8gb"
    assert yaml.safe_load(after) == before


def test_a_service_that_is_an_alias_is_reported_and_left_alone() -> None:
    text = "x-base: &base\n  build: .\nservices:\n  train: *base\n"
    (found,) = starved("compose.yaml", text)
    assert found.edits == ()


@pytest.mark.parametrize(
    "setting",
    [
        "shm_size: 1gb",
        "ipc: host",
        "tmpfs: [/dev/shm]",
        "volumes: [/dev/shm:/dev/shm]",
        "volumes: [{type: tmpfs, target: /dev/shm}]",
        "extends: {file: base.yaml, service: train}",
    ],
)
def test_a_service_that_has_memory(setting: str) -> None:
    assert starved("docker-compose.yml", SERVICE + f"    {setting}\n") == []


def test_memory_for_the_build_is_none_for_the_run() -> None:
    assert starved("compose.yaml", "services:\n  train:\n    build:\n      context: .\n      shm_size: 8gb\n")


POD = """\
apiVersion: v1
kind: Pod
spec:
  containers:
  - image: "train:1"   # pinned
    args: ["python", "train.py"]
{mounts}{volumes}"""
MOUNTED = [{"name": "dshm", "mountPath": "/dev/shm"}]
VOLUME = [{"name": "dshm", "emptyDir": {"medium": "Memory"}}]


@pytest.mark.parametrize(
    "mounts",
    [
        "",
        "    volumeMounts: []\n",
        "    volumeMounts: [{name: a, mountPath: /a}]\n",
        "    volumeMounts:\n    - name: a\n      mountPath: /a\n",
        "    volumeMounts:\n      - name: a # first\n        mountPath: /a\n        # the end\n",
    ],
)
@pytest.mark.parametrize(
    "volumes",
    [
        "",
        "  volumes: []\n",
        "  volumes:\n  - name: a\n    emptyDir: {}\n  # more to come\n",
        "  volumes:\n    - name: a\n      configMap:\n        name: |\n          # a\n          b\n  hostPID: true\n",
    ],
)
def test_a_pod_gets_a_volume_and_nothing_else_changes(mounts: str, volumes: str) -> None:
    text = POD.format(mounts=mounts, volumes=volumes)
    after = fixed("pod.yaml", text)
    spec = yaml.safe_load(text)["spec"]
    container = spec["containers"][0]
    container["volumeMounts"] = sorted([*container.get("volumeMounts", []), *MOUNTED], key=str)
    spec["volumes"] = sorted([*spec.get("volumes", []), *VOLUME], key=str)
    found = yaml.safe_load(after)["spec"]
    found["containers"][0]["volumeMounts"].sort(key=str)
    found["volumes"].sort(key=str)
    assert found == spec
    assert all(line in after.splitlines() for line in text.splitlines() if "[" not in line)
    assert starved("pod.yaml", after) == []


def test_two_containers_of_a_pod_share_the_volume() -> None:
    text = POD.format(mounts="", volumes="") + "  - image: other\n"
    after = yaml.safe_load(fixed("pod.yaml", text))["spec"]
    assert [item["volumeMounts"] for item in after["containers"]] == [MOUNTED, MOUNTED]
    assert after["volumes"] == VOLUME


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ('{"image": "a"}', '{"runArgs": ["--shm-size=8g"], "image": "a"}'),
        (
            '// head\n{\n\t"image": "a", // it\n\t"runArgs": [\n\t\t"--init"\n\t]\n}\n',
            '// head\n{\n\t"image": "a", // it\n\t"runArgs": [\n\t\t"--shm-size=8g",\n\t\t"--init"\n\t]\n}\n',
        ),
        (
            '{\r\n  "build": {"dockerfile": "//x"},\r\n  "runArgs": []\r\n}\r\n',
            '{\r\n  "build": {"dockerfile": "//x"},\r\n  "runArgs": ["--shm-size=8g"]\r\n}\r\n',
        ),
    ],
)
def test_a_dev_container_gets_the_argument(text: str, after: str) -> None:
    assert fixed(".devcontainer/devcontainer.json", text) == after
    assert starved(".devcontainer/devcontainer.json", after) == []


@pytest.mark.parametrize(
    "line",
    [
        "docker run -it train",
        "sudo -E nvidia-docker run --rm train /bin/bash",
        "cd x && podman container run --name a train:1 python train.py",
        "docker run \\\n  --gpus all \\\n  -v $(pwd):/w \\\n  train",
        "\tdocker run --user $(id -u) $(IMAGE)",
        'docker run -e A="b --c" -p80:80 "$IMAGE"',
        "if x; then docker create train; fi",
    ],
)
def test_commands_that_are_understood(line: str) -> None:
    (found,) = starved("Makefile", line + "\n")
    assert fixed("Makefile", line).replace(" --shm-size=8g", "") == line
    assert starved("Makefile", fixed("Makefile", line)) == []
    assert found.image.strip("\"'$()") in ("train", "train:1", "IMAGE")


@pytest.mark.parametrize(
    "line",
    [
        "docker run --ipc=host train",
        "docker run --shm-size 1g train",
        "docker run -v /dev/shm:/dev/shm train",
        "docker run --mount type=tmpfs,dst=/dev/shm train",
        "# docker run train",
        "echo 'docker run train'",
        "docker run $MORE train",
        "docker running train",
        "docker compose run train",
    ],
)
def test_commands_that_are_quiet(line: str) -> None:
    assert starved("run.sh", line + "\n") == []


def test_what_a_script_assigns_to_its_options_counts() -> None:
    assert starved("run.sh", 'MORE="--gpus all"\ndocker run $MORE train\n')[0].gpu
    assert starved("run.sh", 'MORE+=(--ipc=host)\ndocker run "${MORE[@]}" train\n') == []


def test_only_code_of_a_readme_is_read() -> None:
    text = "Use\ndocker run train\nor `docker run train`:\n\n    $ docker run one\n\n```sh\ndocker run two\n```\n"
    assert [container.image for container in starved("README.md", text)] == ["one", "two"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("compose.yaml", "services:\n  {{ template }}\n  a: {image: x}\n"),
        ("compose.yaml", "services: [a, b]\n"),
        ("compose.yaml", "services:\n" + "  - [" * 3000),
        ("compose.yaml", "services: *nowhere\n"),
        ("compose.yaml", "services: &me\n  train: *me\n"),
        ("compose.yaml", "services:\n  train: !mine {<<: [1, *a], image: x}\n"),
        ("pod.yaml", "apiVersion: v1\nspec: {containers: [1, {image: }]}\n"),
        (".devcontainer.json", '{"image": "a'),
        (".gitlab-ci.yml", "a:\n  script: |\n    docker\n  b: {script: [docker run]}\n"),
        ("run.sh", "docker run"),
        ("run.sh", 'docker run "never closed'),
        ("README.md", "```\ndocker run x"),
    ],
)
def test_broken_files_break_nothing(path: str, text: str) -> None:
    for container in read(Source(path, text)).containers:
        apply(text, container.edits)


def test_which_files_are_read() -> None:
    names = (
        "compose.yaml",
        "a/docker-compose.gpu.yml",
        ".gitlab-ci.yml",
        "k8s/job.yaml",
        "x.sh",
        "Makefile",
        "README.md",
    )
    assert all(map(is_container_file, (*names, ".devcontainer/devcontainer.json")))
    assert not any(map(is_container_file, ("package.json", "a.py", "Dockerfile", "notes.txt")))


def project(tmp_path: Path, **files: str) -> Path:
    (tmp_path / "train.py").write_text(TRAIN, encoding="utf-8")
    for name, text in files.items():
        (tmp_path / name.replace("__", ".")).write_bytes(text.encode())
    return tmp_path


def found(tmp_path: Path, *paths: str, fix: bool = False, code: str = "DLL502") -> engine.Result:
    layer = Layer(select=(code,))
    return engine.check(Request(paths=tuple(str(tmp_path / path) for path in paths or (".",)), layer=layer, fix=fix))


def test_files_are_read_only_for_the_rule(tmp_path: Path) -> None:
    project(tmp_path, compose__yaml=SERVICE)
    result = found(tmp_path, "compose.yaml", code="DLL101")
    assert not result.findings
    assert "compose.yaml: only DLL502 reads such files" in result.warnings[0]
    assert [finding.path for finding, _ in found(tmp_path, "compose.yaml").findings] == ["compose.yaml"]


def test_why_a_line_is_reported_or_quiet(tmp_path: Path) -> None:
    place = str(project(tmp_path, compose__yaml=SERVICE) / "compose.yaml")
    told = [engine.why(Request(paths=(place,), layer=Layer(select=("DLL502",))), place, row)[0] for row in (2, 3)]
    assert told[0].startswith("DLL502 is reported here")
    assert told[1].startswith("no container that runs workers")
    assert "only DLL502 reads such files" in engine.why(Request(paths=(place,)), place, 2)[0]


def test_fixes_are_written_byte_for_byte(tmp_path: Path) -> None:
    text = "\ufeff# größe\r\nservices:\r\n  train: # 🚂\r\n    build: .\r\n"
    project(tmp_path, compose__yaml=text)
    result = found(tmp_path, fix=True)
    assert not result.findings and not result.crashes
    assert (tmp_path / "compose.yaml").read_bytes() == (text + "    shm_size: 8gb\r\n").encode()


@pytest.mark.parametrize("comment", ["  train:  # dllint: ignore[DLL502]", "  # dllint: ignore[DLL502]\n  train:"])
def test_a_comment_at_the_service_silences(tmp_path: Path, comment: str) -> None:
    project(tmp_path, compose__yaml=SERVICE.replace("  train:", comment))
    assert not found(tmp_path).findings


def test_text_that_is_no_utf_8_is_left_alone(tmp_path: Path) -> None:
    (project(tmp_path) / "compose.yaml").write_bytes(b"# gr\xf6\xdfe\n" + SERVICE.encode())
    assert not found(tmp_path).findings


PROGRAM = """\
import torch
from torch.utils.data import DataLoader, Dataset


class Large(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return torch.zeros(8 << 20)  # 32 MB


if __name__ == "__main__":
    for batch in DataLoader(Large(), num_workers=4, batch_size=BATCH):
        pass
    print("done")
"""


def run(batch: str, method: str, size: str) -> claims.Outcome:
    """How the program ends with a /dev/shm of its own."""
    if sys.platform != "linux" or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("needs a mount namespace of its own")
    mount = f'mount -t tmpfs -o size={size} tmpfs /dev/shm && exec "$@"'
    inside = ["unshare", "-m", "sh", "-c", mount, "sh"]
    return claims.run({"program.py": PROGRAM.replace("BATCH", batch)}, "program.py", method, inside)


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("method", METHODS)
def test_large_batches_and_the_default_of_containers(method: str) -> None:
    pytest.importorskip("torch")
    enough = run("1", method, "2g")
    assert (enough.kind, enough.stdout) == ("ok", "done\n"), enough.stderr
    full = run("1", method, "64m")
    assert full.kind == "raises"
    assert "unable to allocate shared memory(shm)" in full.stderr
    waiting = run("None", method, "64m")
    assert waiting.kind == "hangs", waiting.stderr
