from pathlib import Path

import pytest
from tests.checkpoints import SPECIAL, save, size

from darc.parts.rewriters.filters import rejection_reason
from darc.parts.rewriters.ner import entity_finder

pytestmark = pytest.mark.hf


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tiny model set by hand: capital letters are entities."""
    import torch
    from transformers import BertConfig, BertForTokenClassification

    settings = BertConfig(
        vocab_size=size(),
        hidden_size=8,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        max_position_embeddings=40,
        id2label={0: "O", 1: "I-NAME"},
        label2id={"O": 0, "I-NAME": 1},
        pad_token_id=0,
    )
    model = BertForTokenClassification(settings)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if "LayerNorm.weight" not in name:
                weights.zero_()
        words = model.bert.embeddings.word_embeddings.weight
        words[:, 0] = 1.0
        words[:, 1] = -1.0
        first = len(SPECIAL) + 2 + 26
        words[first : first + 26, 0] = -1.0
        words[first : first + 26, 1] = 1.0
        model.classifier.weight[0, 0] = model.classifier.weight[1, 1] = 5.0
    return save(Path(tmp_path_factory.mktemp("ner")), model, template=False, pairs=True)


def test_entities_are_what_stands_in_the_text(folder: str) -> None:
    find = entity_finder(folder)
    assert list(find("we saw ROME and OSLO today")) == ["ROME", "OSLO"]
    assert list(find("nothing here")) == []
    assert list(find(" ")) == []


def test_long_texts_are_read_in_windows(folder: str) -> None:
    find = entity_finder(folder)
    assert list(find("a b c " * 20 + "ROME" + " d e f" * 20)) == ["ROME"]


def test_the_hook_refuses_a_changed_entity(folder: str) -> None:
    find = entity_finder(folder)
    text = "It is very big, I think, so we go."
    other = "it is very large, I think, so we go."
    assert rejection_reason(text, other) is None
    assert rejection_reason(text, other, find_entities=find) == "entity: lost 'i'"
    assert rejection_reason(text, other.replace("it", "It"), find_entities=find) is None
