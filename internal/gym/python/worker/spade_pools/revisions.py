"""Which revision of its adapter a package has here.

What an adapter makes of a package is a part of every pool that was imported by it: its prompts, rewards, verdicts, hints and
reference solutions. A source names the revision that it was imported with, and another one refuses it. A revision is raised
whenever an episode of any environment may come out otherwise.
"""

REVISIONS = {
    "bfcl_eval": 1,
    "gem_llm": 1,
    "gymnasium": 1,
    "reasoning_gym": 1,
    "textarena": 1,
    "verifiers": 1,
}
