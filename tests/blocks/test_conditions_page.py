"""The examples of conditions in docs/blocks.md are answered as the page says."""

import json
import re
from pathlib import Path

import pytest

from ordito.blocks.check import unknown
from ordito.blocks.conditions.evaluator import evaluate
from ordito.blocks.conditions.parser import parse
from ordito.blocks.conditions.trees import ConditionFailed, NotACondition

PAGE = Path(__file__).resolve().parents[2] / "docs" / "blocks.md"
CHAPTER = PAGE.read_text("utf-8").partition("\n## Conditions\n")[2].partition("\n## ")[0]
CONTEXT = json.loads(CHAPTER.partition('```json title="context.json"\n')[2].partition("```")[0])
EXAMPLES = [
    (match[1].rstrip(), match[2])
    for block in re.findall(r"```text\n(.*?)```", CHAPTER, re.DOTALL)
    for line in block.splitlines()
    if (match := re.fullmatch(r"(.*?) +// (.*)", line))
]


def said(text: str) -> str:
    """What the page is to say of a condition."""
    try:
        tree = parse(text)
        assert not unknown(tree, CONTEXT)
        return "true" if evaluate(tree, CONTEXT) else "false"
    except NotACondition as refused:
        return f"refused: {refused.message}"
    except ConditionFailed as failed:
        return f"no answer: {failed.message}"


@pytest.mark.parametrize(("text", "says"), EXAMPLES, ids=[text for text, _ in EXAMPLES])
def test_an_example_is_answered_as_the_page_says(text: str, says: str) -> None:
    assert said(text) == says


def test_every_line_of_code_is_an_example() -> None:
    blocks = re.findall(r"```text\n(.*?)```", CHAPTER, re.DOTALL)
    assert len(EXAMPLES) == sum(len(block.splitlines()) for block in blocks) >= 30
