#!/usr/bin/env python3
"""Check a commit message against docs/style.md; .pre-commit-config.yaml runs it at the stage commit-msg.

python scripts/check_commit_message.py FILE        # the message that git is about to commit
python scripts/check_commit_message.py A..B        # the messages of these commits
"""

import re
import subprocess
import sys
from pathlib import Path

MOST_CHARACTERS = 72
MOST_LINES_WITHOUT_BODY = 20
#: messages that git writes itself
BY_GIT = re.compile(r"(Merge|Revert|fixup!|squash!|amend!) ")
SUBJECT = re.compile(r"(?P<area>[a-z_][\w./, -]*): (?P<verb>\S+)(?P<rest>.*)")
#: verbs that subjects often begin with in another form than the imperative
VERBS = """
    add allow ask call change check clean compare compile correct count create delete describe document drop
    fix improve keep let list make mark measure move name pass raise read record refuse reject remove rename
    replace report return run show split state store support test update use write
"""
#: first words of subjects that are sentences or noun phrases
NOUN_PHRASES = """
    a all an any both each every it its more no one only some that the their these this those two what
    when where
"""
NOT_IMPERATIVE = {
    *(verb.removesuffix("e") + ending for verb in VERBS.split() for ending in ("s", "es", "ed", "ing")),
    *NOUN_PHRASES.split(),
}


def faults(message: str, changed_lines: int) -> list[str]:
    """Find the faults of a commit message.

    Args:
        message (str): the message; lines that begin with ``#`` are git's comments.
        changed_lines (int): number of lines that the commit adds and removes.

    Returns:
        list: one sentence for each fault.

    >>> faults("jit: resolve the wrapped function in one place", 5)
    []
    """
    lines = [line.rstrip() for line in message.splitlines() if not line.startswith("#")]
    subject = next((line for line in lines if line), "")
    body = lines[lines.index(subject) + 1 :] if subject else []
    if BY_GIT.match(subject):
        return []
    found = []
    if len(subject) > MOST_CHARACTERS:
        found.append(f"The subject has {len(subject)} characters, but may have {MOST_CHARACTERS}.")
    if ";" in subject:
        found.append("The subject has a semicolon. Describe one change, or make two commits.")
    if subject.endswith("."):
        found.append("The subject ends with a full stop.")
    parts = SUBJECT.fullmatch(subject)
    if parts is None:
        found.append(
            "The subject is not of the form 'area: verb …', such as 'jit: resolve the function once'."
        )
    elif parts["verb"].lower() in NOT_IMPERATIVE:
        found.append(f"'{parts['verb']}' is not an imperative, such as 'add', 'fix' or 'remove'.")
    if body and body[0]:
        found.append("The line after the subject is not empty.")
    trailers = re.compile(r"[A-Z][\w-]+: \S+.*|-{8} >8 -{8}.*")
    if changed_lines > MOST_LINES_WITHOUT_BODY and not any(x and not trailers.fullmatch(x) for x in body):
        found.append(f"{changed_lines} lines change, but there is no body. Say why, after an empty line.")
    return found


def changed_lines(*arguments: str) -> int:
    """Count the added and removed lines that ``git`` reports for a commit or for the index."""
    lines = _git(*arguments, "--numstat").splitlines()
    return sum(int(count) for line in lines for count in line.split("\t")[:2] if count.isdigit())


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout


def main(argument: str) -> int:
    if ".." in argument and not Path(argument).exists():
        commits = _git("rev-list", "--reverse", "--no-merges", argument).split()
        messages = [
            (_git("log", "-1", "--format=%B", x), changed_lines("show", "--format=", x)) for x in commits
        ]
    else:
        messages = [(Path(argument).read_text(), changed_lines("diff", "--cached"))]
    status = 0
    for message, count in messages:
        for fault in faults(message, count):
            print(
                f"{message.strip().splitlines()[0] if message.strip() else '(empty)'}\n    {fault}",
                file=sys.stderr,
            )
            status = 1
    if status:
        print("The rules are in docs/style.md, section 'Changelog and commits'.", file=sys.stderr)
    return status


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
