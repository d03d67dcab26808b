"""A tiny BERT with random weights, for tests that need an encoder's folder."""

import torch
from transformers import BertConfig, BertModel

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def tiny_encoder(folder, rows, *, layers=1, inner=32):
    """Write the folder of an encoder, 32 wide, whose vocabulary has these rows behind the special ones."""
    rows = list(dict.fromkeys([*SPECIAL, *rows]))
    (folder / "vocab.txt").write_text("\n".join(rows))
    torch.manual_seed(5)
    config = BertConfig(
        vocab_size=len(rows),
        hidden_size=32,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=inner,
        max_position_embeddings=128,
    )
    BertModel(config).save_pretrained(folder)
    return folder
