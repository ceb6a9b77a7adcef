#!/usr/bin/env python3
"""Writes docs/api.md from the declarations and comments of runtime/normforge.h. With --check it changes nothing, and
fails where the page is out of date."""

import argparse
import difflib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = ROOT / "runtime/normforge.h"
PAGE = ROOT / "docs/api.md"

# Chapters, by the declaration that begins each.
CHAPTERS = {
    "nf_op": "Problems",
    "nf_input": "Operands",
    "nf_status": "Statuses",
    "nf_version": "Find and run",
    "nf_parallel_for": "Threads",
    "nf_folded_axes": "Tensors of more axes",
    "nf_description": "What a library holds",
    "nf_cuda": "CUDA",
}

INTRODUCTION = """# The C API

All of `normforge.h`, which is at the top of every generated header too. scripts/update_api_docs.py writes this page from it, and a test compares the
two. A generated header adds `const nf_library *NAME_library(void)`, its library's table. [guide.md](guide.md) shows the calls in their order, [problems.md](problems.md) what the fields are for.
"""

COMMENT = re.compile(r"/\*(.*?)\*/\n?", re.DOTALL)
NAME = re.compile(r"^typedef (?:struct|enum) (nf_\w+)|^typedef .*\(\*(nf_\w+)\)|^[\w *]*?\b(nf_\w+)\(|^#define (NF_\w+)",
                  re.MULTILINE)
# What makes an enum's values any number in C++ too.
FOR_COMPILERS = "NF_ANY_NUMBER"
ERROR = re.compile(r"(NF_ERROR_\w+): ")


def lines_of(comment):
    return [re.sub(r"^ ?\* ?", "", line.rstrip()) for line in comment.strip().split("\n")]


def prose(comment):
    """Markdown: errors as a list, what is indented as it is."""
    result, in_list = [], False
    for line in lines_of(comment):
        indented = line.startswith("    ")
        if result and result[-1] and indented != result[-1].startswith("    "):
            result.append("")
        if not indented:
            line = line.replace("*", r"\*")
        if error := ERROR.match(line):
            if not in_list and result and result[-1]:
                result.append("")
            in_list = True
            line = f"- `{error[1]}`: {line[error.end():]}"
        elif in_list and line:
            line = "  " + line
        else:
            in_list = False
        result.append(line)
    return "\n".join(result)


def names_of(declarations):
    return [next(filter(None, found)) for found in NAME.findall(declarations)]


def paragraphs(header):
    """The comment and the declarations of each paragraph that declares something for users."""
    for paragraph in header.split("\n\n"):
        found = COMMENT.match(paragraph)
        comment = found[1] if found else ""
        declarations = paragraph[found.end():] if found else paragraph
        is_for_compilers = re.search(r"^#(?!define NF_\w+ )", declarations, re.MULTILINE)
        if not is_for_compilers:
            yield comment, declarations.replace(f" {FOR_COMPILERS}", "").strip()


def page_of(header):
    parts = [INTRODUCTION, prose(COMMENT.match(header)[1]) + "\n"]
    chapters = dict(CHAPTERS)
    for comment, declarations in paragraphs(header):
        names = names_of(declarations)
        if not names:
            sys.exit(f"{HEADER}: no name in:\n{declarations}")
        if names[0] in chapters:
            parts.append(f"## {chapters.pop(names[0])}\n")
        parts.append(f"### {', '.join(names)}\n\n```c\n{declarations}\n```\n")
        if comment:
            parts.append(prose(comment) + "\n")
    if chapters:
        sys.exit(f"{HEADER}: nothing is named {', '.join(chapters)}")
    page = "\n".join(parts)
    names = set(re.findall(r"\b(?:nf|NF)_\w+", header)) - {FOR_COMPILERS}
    if missing := sorted(name for name in names if not re.search(rf"\b{name}\b", page)):
        sys.exit(f"{HEADER}: left out are {', '.join(missing)}")
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    page = page_of(HEADER.read_text())
    if not check:
        PAGE.write_text(page)
        return
    difference = "".join(difflib.unified_diff(PAGE.read_text().splitlines(True), page.splitlines(True), "docs/api.md",
                                              "normforge.h"))
    if difference:
        sys.exit(difference + "docs/api.md is out of date; run scripts/update_api_docs.py")


if __name__ == "__main__":
    main()
