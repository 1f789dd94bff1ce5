"""The help of commands with many options, in sections."""

from __future__ import annotations

import click

SECTIONS = {
    "Rules": ("select", "extend_select", "ignore", "per_file_ignores", "ignore_noqa"),
    "Files": ("exclude", "extend_exclude", "force_exclude", "stdin_filename"),
    "Targets and configuration": ("target_platforms", "target_python", "config", "isolated"),
    "Only what is new": ("base", "diff_base", "baseline", "write_baseline"),
    "Fixes": ("fix", "fix_only", "unsafe_fixes", "diff", "show_fixes", "fixable", "unfixable", "add_noqa"),
    "Other questions": ("why_place", "show_files", "show_settings"),
    "Output": ("output_format", "output_file", "event", "statistics", "quiet", "verbose", "color", "watch"),
    "Exit status": ("exit_zero", "exit_non_zero_on_fix"),
    "Speed": ("jobs", "no_cache", "cache_dir", "verify_cache", "timings"),
}
"""The options of each section, by the names of their parameters."""


class Sectioned(click.Command):
    """A command whose help lists its options by `SECTIONS`, and what is in no section at the end."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section after the other."""
        left = {
            option.name: option.get_help_record(ctx)
            for option in self.get_params(ctx)
            if isinstance(option, click.Option)
        }
        for title, names in SECTIONS.items():
            _write(formatter, title, [left.pop(name) for name in names if name in left])
        _write(formatter, "Options", [*left.values()])


def _write(formatter: click.HelpFormatter, title: str, records: list[tuple[str, str] | None]) -> None:
    rows = [record for record in records if record is not None]
    if rows:
        with formatter.section(title):
            formatter.write_dl(rows)
