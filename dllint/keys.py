"""The keys of a configuration file, each with what it means: the struct that reads them is also their documentation."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from dllint.start_methods import LINUX_FORKS_BEFORE

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


def _key(description: str, example: str, default: str = "[]", of: str = "parameter") -> msgspec.Meta:
    """What a key means, a line that shows it, what holds without it, and of a table what its keys are."""
    return msgspec.Meta(description=description, extra={"example": example, "default": default, "of": of})


Constant = bool | int | str


class LoaderKeys(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """The keys of a table in `loaders`: what a class or function that starts workers does with its arguments."""

    parameters: Annotated[
        Words | None,
        _key(
            "Its parameters, in the order of its positional arguments. Parameters that are only passed by name follow.",
            'parameters = ["source", "batch_size", "mode"]',
            "those of DataLoader",
        ),
    ] = None
    ships: Annotated[
        Words | None,
        _key("The parameters that it sends to its workers.", 'ships = ["source", "collate_fn"]', "those of DataLoader"),
    ] = None
    workers: Annotated[
        str,
        _key(
            "The parameter that sets the number of workers, or one of the options in a parameter: `args.num_workers`.",
            'workers = "num_proc"',
            '"num_workers"',
        ),
    ] = "num_workers"
    processes_when: Annotated[
        dict[str, tuple[Constant, ...]],
        _key(
            "Parameters, each with the values that make the workers processes. With any other value they are threads, "
            "to which nothing is sent.",
            'processes-when = {mode = ["process"]}',
            "{}",
        ),
    ] = {}
    defaults: Annotated[
        dict[str, Constant],
        _key(
            "What the number of workers and the parameters of `processes-when` are if a call omits them.",
            'defaults = {num_proc = 4, mode = "thread"}',
            "no workers, and no value",
        ),
    ] = {}
    attributes: Annotated[
        dict[str, str],
        _key(
            "Attributes that return what the loader was given, each with the parameter. Each parameter already is an "
            "attribute of the same name.",
            'attributes = {dataset = "source"}',
            "{}",
            "attribute",
        ),
    ] = {}


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """The keys of a configuration file. None means not given."""

    extend: Annotated[
        str | None,
        _key(
            "A configuration file to build on, relative to this file. The keys here replace the keys there, and keys "
            "that begin with `extend-` add to them. Patterns of that file stay relative to its own folder.",
            'extend = "../pyproject.toml"',
            "none",
        ),
    ] = None
    required_version: Annotated[
        str | None,
        _key(
            "The versions of dllint that accept this file, as a version or a specifier. Other versions refuse to run.",
            'required-version = ">=0.1"',
            "any version",
        ),
    ] = None
    select: Annotated[
        Words | None,
        _key(
            "The rules to report, instead of the default rules: codes, prefixes, families such as `pickling`, names, "
            "or ALL. What has the severity `info`, such as a list that is likely small, is reported only if a selector "
            "names its rule.",
            'select = ["DLL1", "path-list-on-dataset"]',
            "the rules that are on by default",
        ),
    ] = None
    extend_select: Annotated[
        Words,
        _key(
            "Rules to report in addition to `select`, also with what has the severity `info`.",
            'extend-select = ["DLL901", "DLL902"]',
        ),
    ] = ()
    ignore: Annotated[
        Words | None,
        _key(
            "Rules not to report. The longer selector wins: `select` can name one rule of an ignored family.",
            'ignore = ["DLL206"]',
        ),
    ] = None
    per_file_ignores: Annotated[
        dict[str, Words] | None,
        _key(
            "Rules not to report in files whose path matches a pattern, as in .gitignore. A leading `!` selects all "
            "other files. The file with the cause counts.",
            'per-file-ignores = {"tests/*" = ["DLL2"]}',
            "{}",
            "pattern",
        ),
    ] = None
    extend_per_file_ignores: Annotated[
        dict[str, Words],
        _key(
            "Ignores to add to those of the file that this one extends.",
            'extend-per-file-ignores = {"examples/*" = ["ALL"]}',
            "{}",
            "pattern",
        ),
    ] = {}
    fixable: Annotated[
        Words | None, _key("The rules whose fixes dllint may apply.", 'fixable = ["DLL1"]', '["ALL"]')
    ] = None
    unfixable: Annotated[
        Words | None, _key("Rules whose fixes dllint shows and never applies.", 'unfixable = ["DLL301"]')
    ] = None
    unsafe_fixes: Annotated[
        bool | None,
        _key("Whether `--fix` also applies unsafe fixes, as with `--unsafe-fixes`.", "unsafe-fixes = true", "false"),
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
            "Patterns, as in .gitignore, of files that do not belong to the project, instead of the default patterns. "
            "dllint does not even read excluded files.",
            'exclude = ["third_party/"]',
            "names such as .git, .venv, build, dist, node_modules, site-packages",
        ),
    ] = None
    extend_exclude: Annotated[
        Words, _key("Patterns to exclude in addition to `exclude`.", 'extend-exclude = ["generated/"]')
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
            "Whether to skip excluded files even if the command names them, as hooks do.",
            "force-exclude = true",
            "false",
        ),
    ] = None
    respect_gitignore: Annotated[
        bool | None, _key("Whether to skip files that git ignores.", "respect-gitignore = false", "true")
    ] = None
    output_format: Annotated[
        Format | None,
        _key("The format of the findings.", 'output-format = "concise"', "full on a terminal, otherwise concise"),
    ] = None
    docs_url: Annotated[
        str | None,
        _key(
            "The address of dllint's documentation. Findings link to it in JSON, SARIF, rdjson, terminals and editors.",
            'docs-url = "https://docs.example.org/dllint"',
            SITE or "none: editors and terminals link to the installed pages",
        ),
    ] = None
    cache_dir: Annotated[
        str | None,
        _key(
            "The cache folder, relative to this file.",
            'cache-dir = "~/.cache/dllint"',
            "the user's cache folder",
        ),
    ] = None
    src: Annotated[
        Words | None,
        _key(
            "Folders that imports start from, in addition to the default ones, relative to this file.",
            'src = ["lib", "tools/python"]',
        ),
    ] = None
    target_python: Annotated[
        str | None,
        _key(
            "The Python versions that the project runs on, as a version or a specifier. From "
            f"{LINUX_FORKS_BEFORE} on, Linux starts workers with forkserver, which pickles what it sends to them.",
            'target-python = ">=3.10,<3.14"',
            "`requires-python` of the project, or all",
        ),
    ] = None
    target_platforms: Annotated[
        tuple[Platform, ...] | None,
        _key(
            "The platforms that the project runs on. macOS and Windows start workers with spawn, which pickles what it "
            "sends to them.",
            'target-platforms = ["linux"]',
            '["linux", "macos", "windows"]',
        ),
    ] = None
    start_method: Annotated[
        StartMethod | None,
        _key(
            "The start method that the project sets, if dllint cannot see it.",
            'start-method = "spawn"',
            "the default of each platform",
        ),
    ] = None
    loader_classes: Annotated[
        Words | None,
        _key(
            "Classes and functions that create loaders and that dllint does not know, by their dotted names. They take "
            "the parameters of DataLoader.",
            'loader-classes = ["company.data.Loader"]',
        ),
    ] = None
    loaders: Annotated[
        dict[str, LoaderKeys] | None,
        _key(
            "Classes and functions that create loaders and have parameters of their own, by their dotted names as "
            "users import them. The keys of each table say what dllint assumes of it.",
            'loaders = {"company.data.FastLoader" = {workers = "num_proc", ships = ["dataset", "collate_fn"]}}',
            "{}",
            "name",
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
