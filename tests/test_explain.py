"""Topics: their prose, their demos and the three formats."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lnorm_cli.errors import InputError
from lnorm_cli.explain.content import Demo, Fence, Heading, Items, Paragraph
from lnorm_cli.explain.demos import MODULES, function, run
from lnorm_cli.explain.markup import CITATION, blocks
from lnorm_cli.explain.topics import find, sources, topics

NAMES = [
    "layernorm", "axes", "batchnorm", "epsilon", "affine", "parameters", "residual", "gradients", "postnorm",
    "prenorm", "placement", "finalnorm", "porting", "rmsnorm", "precision", "backward", "block", "variants",
    "implement",
]  # fmt: skip

COVERAGE = {
    "N1": "layernorm", "N2": "layernorm", "N3": "affine", "N4": "affine", "N5": "layernorm",
    "N6": "parameters", "N7": "parameters", "N8": "epsilon", "N9": "epsilon", "N10": "block",
    "I1": "layernorm axes", "I2": "layernorm", "I3": "affine", "I4": "epsilon", "I5": "batchnorm",
    "I6": "batchnorm", "I7": "axes implement", "I8": "residual", "I9": "residual gradients",
    "I10": "gradients", "I11": "postnorm", "I12": "prenorm", "I13": "placement finalnorm", "I14": "porting",
    "I15": "rmsnorm", "I16": "precision", "I17": "block", "I18": "layernorm", "I19": "block",
    "I20": "gradients", "I21": "implement",
}  # fmt: skip
"""What must be taught, and where."""

NAMES_WITH_DIGITS = r"GPT-2|Gemma 2|float\d+|f\(z\) = 2z"

SYMBOLS = set("μσ²εγβ√Σ−×≈≤≥→∂α·∞\u0302")


def prose(body: str) -> list[str]:
    """The text of headings, paragraphs and list items, with the code spans taken out."""
    texts = []
    for block in blocks(body):
        if isinstance(block, (Heading, Paragraph)):
            texts.append(block.text)
        elif isinstance(block, Items):
            texts += block.items
    return [re.sub(r"`[^`]*`", "", text) for text in texts]


def test_nineteen_topics_in_learning_order() -> None:
    assert [topic.name for topic in topics()] == NAMES
    assert [topic.order for topic in topics()] == list(range(1, 20))
    assert all(0 < len(topic.line) <= 58 for topic in topics())


@pytest.mark.parametrize("row", COVERAGE)
def test_every_row_that_must_be_taught_has_its_topic(row: str) -> None:
    covering = {topic.name for topic in topics() if row in topic.covers}
    assert set(COVERAGE[row].split()) <= covering


@pytest.mark.parametrize("topic", topics(), ids=lambda topic: topic.name)
def test_citations_and_sources_agree(topic) -> None:
    cited = {id for text in prose(topic.body) for id in CITATION.findall(text)}
    if topic.name == "epsilon":  # its table cites what it lists
        cited |= {id for result in run(["libraries", "1", "2"]) for row in result.rows
                  for id in CITATION.findall(row[0])}  # fmt: skip
    assert cited == set(topic.sources)
    assert cited <= set(sources())


@pytest.mark.parametrize("topic", topics(), ids=lambda topic: topic.name)
def test_numbers_in_prose_are_cited(topic) -> None:
    """A digit in prose stands in a sentence with a citation; what is ours comes from demos."""
    for text in prose(topic.body):
        for sentence in re.split(r"(?<=[.:;!?])\s+", text):
            bare = CITATION.sub("", sentence)
            bare = re.sub(r"GPT-2|Gemma 2|float\d+|\d+/\d+ ?l|1 \+ \d?l/2|f\(z\) = 2z|\b2N\b|\b8N\b", "", bare)
            assert not re.search(r"\d", bare) or CITATION.search(sentence), sentence


@pytest.mark.parametrize("topic", topics(), ids=lambda topic: topic.name)
def test_prose_uses_known_symbols_and_narrow_drawings(topic) -> None:
    assert {c for c in topic.body if ord(c) > 127} <= SYMBOLS
    for block in blocks(topic.body):
        if isinstance(block, Fence):
            assert max(len(line.replace("\u0302", "")) for line in block.lines) <= 40, block


@pytest.mark.parametrize("topic", topics(), ids=lambda topic: topic.name)
def test_topics_have_a_demo_a_pitfall_and_something_to_try(topic) -> None:
    parts = list(blocks(topic.body))
    headings = [block.text for block in parts if isinstance(block, Heading)]
    assert "A pitfall" in headings
    assert headings[-1] == "Try next"
    assert any(isinstance(block, Demo) for block in parts)
    assert f"lnorm quiz --topic {topic.name}" in topic.body
    words = sum(len(text.split()) for text in prose(topic.body))
    assert words <= 500


@pytest.mark.parametrize("topic", topics(), ids=lambda topic: topic.name)
def test_every_demo_runs(topic) -> None:
    for block in blocks(topic.body):
        if isinstance(block, Demo):
            results = run(block.words)
            assert results, block


def test_every_registered_demo_exists_and_is_shown() -> None:
    shown = {block.words[0] for topic in topics() for block in blocks(topic.body) if isinstance(block, Demo)}
    registered = {name for names in MODULES.values() for name in names}
    assert shown == registered
    assert all(function(name).__doc__ for name in registered)


@pytest.mark.parametrize(
    ("name", "topic"),
    [
        ("prenorm", "prenorm"), ("pre-norm", "prenorm"), ("Pre_LN", "prenorm"), ("PRE NORM", "prenorm"),
        ("post-ln", "postnorm"), ("ln_f", "finalnorm"), ("fp16", "precision"), ("eps", "epsilon"),
        ("deepnorm", "variants"), ("skip connection", "residual"),
    ],
)  # fmt: skip
def test_names_are_forgiving(name: str, topic: str) -> None:
    assert find(name).name == topic


@pytest.mark.parametrize(
    ("name", "suggested"), [("prenrom", "prenorm"), ("epsilom", "epsilon"), ("grad flow", "gradients")]
)
def test_an_unknown_name_suggests(name: str, suggested: str) -> None:
    with pytest.raises(InputError) as caught:
        find(name)
    assert suggested in caught.value.hint


def test_a_hopeless_name_points_to_the_list() -> None:
    with pytest.raises(InputError) as caught:
        find("zzzz")
    assert "lnorm explain" in caught.value.hint
    assert "did you mean" not in caught.value.hint


def test_no_alias_names_two_topics() -> None:
    seen: dict[str, str] = {}
    for topic in topics():
        for name in (topic.name, *topic.aliases):
            key = re.sub("[^a-z0-9]", "", name.lower())
            assert seen.setdefault(key, topic.name) == topic.name, name


def test_every_claim_of_the_lab_is_shown() -> None:
    from lnorm_cli import lab

    shown: set[str] = set()
    for topic in topics():
        for block in blocks(topic.body):
            if isinstance(block, Demo) and block.words[0] == "lab-claims":
                shown |= set(block.words[1].removeprefix("which=").split())
    assert shown == set(lab.CLAIMS)


def test_the_sources_page_cites_what_there_is() -> None:
    page = (Path(__file__).parent.parent / "docs" / "sources.md").read_text(encoding="utf-8")
    cited = set(CITATION.findall(page))
    assert cited <= set(sources())
    papers = {id for id, source in sources().items() if source.where.startswith("arXiv")}
    assert papers <= cited
    for name in re.findall(r"`lnorm explain ([a-z]+)", page):
        assert find(name).name == name


def test_sources_are_complete_and_used() -> None:
    used = {id for topic in topics() for id in topic.sources}
    assert used <= set(sources())
    for source in sources().values():
        assert source.title
        assert source.authors
        assert 2014 < source.year < 2030
        assert re.fullmatch(r"arXiv:\d{4}\.\d{5}|https://\S+", source.where)
