"""The keys of a configuration file, each with what it means: the struct that reads them is also their documentation."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

Words = tuple[str, ...]
Platform = Literal["linux", "macos", "windows"]
Format = Literal[
    "concise",
    "full",
    "grouped",
    "json",
    "json-lines",
    "sarif",
    "github",
    "gitlab",
    "rdjson",
    "rdjsonl",
    "junit",
    "pylint",
    "azure",
    "markdown",
]
StartMethod = Literal["fork", "spawn", "forkserver"]


SITE = ""
"""The address of the documentation on the web; empty as long as it is not published."""


def _key(description: str, example: str, default: str = "[]") -> msgspec.Meta:
    """What a key means, a line that shows it, and what holds without it."""
    return msgspec.Meta(description=description, extra={"example": example, "default": default})


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """The keys of a configuration file. None means not given."""

    extend: Annotated[
        str | None,
        _key(
            "A configuration file to build on: the keys here replace those there, and keys that begin with `extend-` "
            "add to them. Relative to this file; patterns of that file stay relative to its own folder.",
            'extend = "../pyproject.toml"',
            "none",
        ),
    ] = None
    required_version: Annotated[
        str | None,
        _key(
            "The versions of dllint that may read this file, as a version or a specifier. Another one refuses to run.",
            'required-version = ">=0.1"',
            "any version",
        ),
    ] = None
    select: Annotated[
        Words | None,
        _key(
            "The rules that are reported instead of those that are on by default: codes, prefixes, families such as "
            "`pickling`, names, or ALL.",
            'select = ["DLL1", "path-list-on-dataset"]',
            "the rules that are on by default",
        ),
    ] = None
    extend_select: Annotated[
        Words, _key("Rules that are reported besides `select`.", 'extend-select = ["DLL901", "DLL902"]')
    ] = ()
    ignore: Annotated[
        Words | None,
        _key(
            "Rules that are not reported. The longer selector wins: `select` may name one rule of an ignored family.",
            'ignore = ["DLL206"]',
        ),
    ] = None
    per_file_ignores: Annotated[
        dict[str, Words] | None,
        _key(
            "Rules that are not reported in files whose path matches a pattern as in .gitignore. `!` in front means "
            "all other files. The file that counts is the one with the cause.",
            'per-file-ignores = {"tests/*" = ["DLL2"]}',
            "{}",
        ),
    ] = None
    extend_per_file_ignores: Annotated[
        dict[str, Words],
        _key(
            "More of them, besides those of the file that this one extends.",
            'extend-per-file-ignores = {"examples/*" = ["ALL"]}',
            "{}",
        ),
    ] = {}
    fixable: Annotated[Words | None, _key("The rules whose fixes may be applied.", 'fixable = ["DLL1"]', '["ALL"]')] = (
        None
    )
    unfixable: Annotated[
        Words | None, _key("Rules whose fixes are shown and never applied.", 'unfixable = ["DLL301"]')
    ] = None
    unsafe_fixes: Annotated[
        bool | None,
        _key("Whether `--fix` applies unsafe fixes too, as with `--unsafe-fixes`.", "unsafe-fixes = true", "false"),
    ] = None
    extend_safe_fixes: Annotated[
        Words, _key("Rules whose unsafe fixes count as safe here.", 'extend-safe-fixes = ["DLL101"]')
    ] = ()
    extend_unsafe_fixes: Annotated[
        Words, _key("Rules whose safe fixes count as unsafe here.", 'extend-unsafe-fixes = ["DLL604"]')
    ] = ()
    exclude: Annotated[
        Words | None,
        _key(
            "Patterns, as in .gitignore, of what does not belong to the project, instead of the usual ones. What is "
            "excluded is not even read.",
            'exclude = ["third_party/"]',
            "names such as .git, .venv, build, dist, node_modules, site-packages",
        ),
    ] = None
    extend_exclude: Annotated[
        Words, _key("Patterns that are excluded besides `exclude`.", 'extend-exclude = ["generated/"]')
    ] = ()
    include: Annotated[
        Words | None,
        _key(
            "Patterns of the files that belong to the project.",
            'include = ["*.py", "*.pyw"]',
            "Python files, notebooks",
        ),
    ] = None
    force_exclude: Annotated[
        bool | None,
        _key(
            "Whether excluded files are left out even when they are named, as hooks do.",
            "force-exclude = true",
            "false",
        ),
    ] = None
    respect_gitignore: Annotated[
        bool | None, _key("Whether files that git ignores are left out.", "respect-gitignore = false", "true")
    ] = None
    output_format: Annotated[
        Format | None,
        _key("How findings are written.", 'output-format = "concise"', "full on a terminal, else concise"),
    ] = None
    docs_url: Annotated[
        str | None,
        _key(
            "The address of dllint's documentation, which findings link to: in JSON, SARIF, rdjson, terminals and "
            "editors.",
            'docs-url = "https://docs.example.org/dllint"',
            SITE or "none: editors and terminals link to the pages that are installed",
        ),
    ] = None
    cache_dir: Annotated[
        str | None,
        _key(
            "A folder for what is kept between runs, relative to this file.",
            'cache-dir = "~/.cache/dllint"',
            "the user's cache folder",
        ),
    ] = None
    src: Annotated[
        Words | None,
        _key(
            "Folders that imports start from, besides the usual ones, relative to this file.",
            'src = ["lib", "tools/python"]',
        ),
    ] = None
    target_python: Annotated[
        str | None,
        _key(
            "The Pythons that the project runs on, as a version or a specifier. From 3.14 on Linux starts workers by "
            "forkserver, which pickles what they are sent.",
            'target-python = ">=3.10,<3.14"',
            "`requires-python` of the project, else all",
        ),
    ] = None
    target_platforms: Annotated[
        tuple[Platform, ...] | None,
        _key(
            "The platforms that the project runs on. On macOS and Windows workers are spawned, which pickles what they "
            "are sent.",
            'target-platforms = ["linux"]',
            '["linux", "macos", "windows"]',
        ),
    ] = None
    start_method: Annotated[
        StartMethod | None,
        _key(
            "The start method that the project sets itself, where dllint does not see it.",
            'start-method = "spawn"',
            "the default of each platform",
        ),
    ] = None
    loader_classes: Annotated[
        Words | None,
        _key(
            "Classes and functions that make loaders and that dllint does not know, by their dotted names. They take "
            "what DataLoader takes.",
            'loader-classes = ["company.data.Loader"]',
        ),
    ] = None
    dataset_bases: Annotated[
        Words | None,
        _key("Classes whose subclasses are datasets, by their dotted names.", 'dataset-bases = ["company.data.Table"]'),
    ] = None
    unpicklable_types: Annotated[
        Words | None,
        _key(
            "Classes whose objects must not be sent to workers (DLL106), by their dotted names.",
            'unpicklable-types = ["httpx.Client"]',
        ),
    ] = None
