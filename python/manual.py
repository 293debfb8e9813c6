# SPDX-License-Identifier: MIT
"""For the Makefile: hyprof-python(1) from the table of options, so that it says what the command does.

Usage: manual.py VERSION DATE, with the package in PYTHONPATH.
"""
import optparse
import re
import sys
import textwrap

from hyprof import _command

_COLUMNS = 78

_DESCRIPTION = (
    "Runs a Python script, a folder or .zip file with __main__.py, or a module, and records it with hyprof: a zone for "
    "each call of a Python function, and samples of call stacks. It starts hyprof record unless a recorder is there; "
    "without one it runs the program and says how to get one. Code of libraries (the standard library and installed "
    "packages) is left out unless --include names it.",
    "The first word that is no option, and all after it, belong to the program.",
    "hyprof-python ops writes a row for each op of a trace, in the columns of tt-metal's reports of ops; its own --help "
    "lists its options.",
)

_STATUS = (
    "The program's; 128 and the signal's number if a signal killed it; 1 if it raised an exception; 2 if the options "
    "are wrong or the program is not there. With -r, 1 if the program succeeded and the report could not be written.",
)

_ENVIRONMENT = (
    ("HYPROF", "the recorder, if --hyprof does not name it"),
)

_EXAMPLES = """\
hyprof-python train.py --epochs 3
hyprof-python -o out -n tests -m pytest -q tests
hyprof-python -p --no-samples script.py
hyprof-python --include 'numpy.*' --exclude '*.tests' script.py
hyprof record -F 2000 -- hyprof-python script.py
hyprof-python ops hyprof.hyp -o ops.csv"""

_RELATED = "hyprof(1), hyprof\\-record(1), hyprof\\-report(1), hyprof\\-annotate(1), hyprof\\-query(1), python3(1)"


def _escape(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return re.sub(r"^\.", "\\\\&.", text, flags=re.MULTILINE)


def _fill(text: str) -> str:
    """A line that a word with a dot begins would be an order."""
    lines = textwrap.wrap(_escape(" ".join(text.split())), _COLUMNS, break_long_words=False, break_on_hyphens=False)
    return "\n".join("\\&" + line if line.startswith(".") else line for line in lines)


def _put_lines(text: str) -> None:
    print(".RS 4\n.nf\n" + _escape(text) + "\n.fi\n.RE")


def _put_paragraphs(paragraphs: tuple[str, ...]) -> None:
    print("\n.PP\n".join(_fill(paragraph) for paragraph in paragraphs))


def _put_option(option: optparse.Option) -> None:
    takes = option.takes_value()
    value = (option.metavar or (option.dest or "").upper()) if takes else ""
    names = ", ".join(getattr(option, "_short_opts") + getattr(option, "_long_opts"))
    print(".TP\n\\fB" + _escape(names + (" " + value if value else "")) + "\\fR\n" + _fill(option.help or ""))


def main(version: str, date: str) -> None:
    parser = getattr(_command, "_make_parser")()
    print(f'.TH HYPROF-PYTHON 1 {date} "hyprof {version}" "hyprof manual"')
    print(".SH NAME\nhyprof\\-python \\- record Python programs with a zone for each call")
    usage = [line.strip().replace("python3 -m hyprof", "hyprof-python") for line in parser.usage.splitlines()]
    print(".SH SYNOPSIS")
    _put_lines("\n".join(usage))
    print(".SH DESCRIPTION")
    _put_paragraphs(_DESCRIPTION)
    print(".SH OPTIONS")
    for option in parser.option_list:
        _put_option(option)
    for group in parser.option_groups:
        print(".SS " + _escape(group.title))
        print(_fill(group.description))
        for option in group.option_list:
            _put_option(option)
    print(".SH EXIT STATUS")
    _put_paragraphs(_STATUS)
    print(".SH ENVIRONMENT")
    for name, words in _ENVIRONMENT:
        print(f".TP\n\\fB{name}\\fR\n{_fill(words)}")
    print(".SH EXAMPLES")
    _put_lines(_EXAMPLES)
    print(".SH SEE ALSO\n" + "\n".join(textwrap.wrap(_RELATED, _COLUMNS)))


if __name__ == "__main__":
    main(*sys.argv[1:])
