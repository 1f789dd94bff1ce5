"""Rule pages run as tests: what `dllint test` does, and this repository's own tests of all its pages.

A page is Markdown. A *section* goes from one heading to the next. The file blocks of a section form *cases*: one case
is one project.

Blocks, by the info string of their fence:

* `py`: a Python file. Its path is the last non-blank line before the fence when that line only has a path with
  a suffix (plain or in backquotes); without one it is `example.py`. A path that the current case already has begins a
  new case. `py prose` is shown and never checked.
* `toml` without a path line: the `dllint.toml` of every case of its section.
* `diff`: what `--fix --unsafe-fixes` makes of the case before it; `DLLINT_UPDATE=1 pytest tests/test_pages.py`
  `dllint test --update` rewrites it.
* any other language: a file of the project when a path line names it, else prose.

Expectations are at the end of lines of file blocks and are stripped before the text is used:

* `# DLL101`: exactly this is reported here; `# DLL101: text` also requires `text` in the message; with
  `# DLL101 (stays)` the finding outlives the fix of the diff;
* `# route: text`: some finding of the case has a step of its route here whose text contains `text`;
* a comment line of carets fixes the columns of the findings of the line above, one group a finding. A `#` that touches
  carets counts as one, and carets that reach the line's end also stand for a range that goes on below.

A case without expectations asserts that it is quiet.

Attributes after `py` make the block the main program of its case and say what it does on real torch:
`run=spawn,forkserver raises=AttributeError says="local object" run=fork ok prints=done fixed=fork,spawn`. Each `run=`
opens a clause that ends with the next one; its outcome is `ok`, `raises=A,B`, `hangs`, `dies` or `complains=A` (exit
status 0, and a child process printed this exception). `fixed=` narrows the start methods under which the fixed program
must work (all three when absent); what an `ok` clause `prints`, the fixed program prints too; where these differ, it
prints what the program with forked workers does.
"""
