"""DLL307: the default device is CUDA where a loader draws its order on the CPU."""

from __future__ import annotations

from collections.abc import Iterator

from dllint import ALL_METHODS, Applicability, Certainty, Finding, Fix, Note, Project, Rule
from dllint_rules.start.analysis.default_device import DefaultDevice

_ON_DEFAULT = "torch.Generator(device=torch.empty(0).device)"
"""A generator where new tensors are, whatever the default is."""


class CudaDefaultDevice(Rule):
    """A shuffling loader makes a CPU generator, and draws with it on the default device."""

    code = "DLL307"
    name = "cuda-default-device"
    summary = "CUDA is the default device of a program whose loader shuffles without `generator=`"

    def check(self, project: Project) -> Iterator[Finding]:
        for found in project.analysis(DefaultDevice).cuda_defaults:
            loader = found.loader
            short = found.name.rpartition(".")[2]
            yield Finding(
                code=self.code,
                path=found.module.path,
                span=found.call.span,
                message=f"`{short}` makes CUDA the default, and `{loader.name}` shuffles without `generator=`: raises "
                "\"Expected a 'cuda' device type for generator but found 'cpu'\"; "
                "give devices explicitly, or the loader a generator on the default device",
                certainty=Certainty.LIKELY,
                outcomes=dict.fromkeys(sorted(ALL_METHODS), "exception"),
                notes=(Note(loader.path, loader.span, f"`{loader.name}(...)` draws its order with a CPU generator"),),
                anchors=((loader.path, loader.span),),
                key=f"{self.code}:{found.module.path}:{short}:{loader.name}",
                data=loader,
            )

    def fix(self, finding: Finding, project: Project) -> Fix | None:
        from dllint import call_with

        loader = finding.data
        if loader.instance is not None:
            return None
        snippet = call_with(project.source(loader.path), loader.span, "generator", _ON_DEFAULT)
        title = "Give the loader a generator on the default device"
        return Fix(title, (), Applicability.MANUAL, snippet=snippet) if snippet else None
