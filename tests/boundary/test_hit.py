"""`memctx.lowlevel.Hit` and `memctx.lowlevel.Explanation`."""

from __future__ import annotations

import json

import pytest
from hypothesis import strategies as st

import memctx
from memctx.lowlevel import Bm25Index, Explanation, FlatIndex, HashEmbedder, Hit
from memctx.lowlevel.fusion import blend, normalize

from .strategies import for_all

CLASSES = [Bm25Index, Explanation, FlatIndex, HashEmbedder, Hit, memctx.lowlevel.vmem.VmemReport]


def explained() -> Explanation:
    """Return the explanation of a document with two terms, as the golden values have it."""
    index = Bm25Index()
    index.add_many([("d1", "the quick brown fox"), ("d2", "quick quick red fox jumps")])
    found = index.explain("quick fox fox", "d2")
    assert found is not None
    return found


@for_all(st.text(), st.floats(allow_nan=False, allow_infinity=False))
def test_a_hit_can_be_constructed(key: str, score: float) -> None:
    """A hit keeps the id and the score it was made with and explains the score by itself."""
    hit = Hit(key, score)
    assert (hit.id, hit.score) == (key, score)
    assert (hit.explain.name, hit.explain.value, hit.explain.parts) == ("score", score, ())
    assert hit == Hit(id=key, score=score)


def test_hits_are_equal_by_value() -> None:
    """Two hits are equal if id, score and explanation are; a hit equals nothing else."""
    assert Hit("a", 1) == Hit("a", 1.0)
    assert Hit("a", 1) != Hit("b", 1)
    assert Hit("a", 1) != Hit("a", 2)
    assert normalize([Hit("a", 2)]) != [Hit("a", 1)]
    assert normalize([Hit("a", 2)]) == normalize([Hit("a", 2)])
    assert Hit("a", 1) != ("a", 1)
    assert Hit("a", 1) not in [None, "a", 1.0]


def test_explanations_are_equal_by_value() -> None:
    """Two explanations are equal if their names, numbers and parts are."""
    assert explained() == explained()
    assert explained() != explained().parts[0]
    assert explained().parts == explained().parts
    assert explained() != explained().to_dict()


@pytest.mark.parametrize("thing", [Hit("a", 1), Hit("a", 1).explain])
def test_values_with_equality_cannot_be_hashed(thing: object) -> None:
    """Hits and explanations are compared by their numbers, so they are no keys."""
    with pytest.raises(TypeError, match="unhashable"):
        hash(thing)


def test_a_hit_repr_shows_id_and_score() -> None:
    """The repr of a hit shows its id and its score, that of an explanation its name and number."""
    assert repr(Hit("turn-3", 0.5)) == 'Hit(id="turn-3", score=0.500000)'
    assert repr(Hit("a", 0.5).explain) == "<Explanation score 0.5>"


def test_an_explanation_is_a_tree_of_named_numbers() -> None:
    """Each number of the formula has its place: the terms, and in each idf, saturation and repeats."""
    tree = explained()
    assert tree.name == "bm25"
    assert {part.name for part in tree.parts} == {'term "quick"', 'term "fox"'}
    for term in tree.parts:
        idf, saturation, repeats = (part.value for part in term.parts)
        assert term.value == pytest.approx(idf * saturation * repeats)
        assert repeats == (2 if "fox" in term.name else 1)
    assert tree.value == pytest.approx(sum(term.value for term in tree.parts))


def test_an_explanation_prints_as_an_indented_tree() -> None:
    """Every number has a line, two spaces further in than the number it is part of."""

    def lines(tree: Explanation, depth: int = 0) -> list[str]:
        inner = [line for part in tree.parts for line in lines(part, depth + 1)]
        return [f"{'  ' * depth}{tree.value:.6f} {tree.name}", *inner]

    assert str(explained()).splitlines() == lines(explained())
    assert len(lines(explained())) == 1 + 2 * (1 + 3)


def test_an_explanation_is_ready_for_json() -> None:
    """As plain dictionaries the tree survives JSON, number for number."""

    def as_dict(tree: Explanation) -> dict[str, object]:
        return {"name": tree.name, "value": tree.value, "parts": [as_dict(p) for p in tree.parts]}

    (blended,) = blend([Hit("a", 0.1)], normalize([Hit("a", 3)]))
    for tree in (explained(), blended.explain, Hit("a", 1).explain):
        assert tree.to_dict() == as_dict(tree)
        assert json.loads(json.dumps(tree.to_dict())) == as_dict(tree)


@pytest.mark.parametrize("cls", CLASSES)
def test_classes_cannot_be_subclassed(cls: type) -> None:
    """The classes are what they are, so that the core can rely on it."""
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Derived", (cls,), {})


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (Hit("a", 1), "id"),
        (Hit("a", 1), "score"),
        (Hit("a", 1), "explain"),
        (Hit("a", 1).explain, "value"),
        (Hit("a", 1).explain, "parts"),
        (FlatIndex(3), "dim"),
        (HashEmbedder(3), "dim"),
        (Bm25Index(), "mode"),
        (Hit("a", 1), "anything"),
        (Bm25Index(), "anything"),
    ],
)
def test_instances_cannot_be_changed(thing: object, name: str) -> None:
    """No attribute can be set or deleted, known or not."""
    with pytest.raises(AttributeError):
        setattr(thing, name, 1)
    with pytest.raises(AttributeError):
        delattr(thing, name)


@pytest.mark.parametrize("cls", [Explanation, memctx.lowlevel.vmem.VmemReport])
def test_results_cannot_be_constructed(cls: type) -> None:
    """Explanations and reports come from the library only."""
    with pytest.raises(TypeError):
        cls()
