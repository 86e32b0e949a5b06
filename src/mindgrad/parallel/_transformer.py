"""Parallel transformers of older MindSpore: importable, but calls raise an error."""

from mindgrad._base.absent import absent

_REASON = "is a part of a transformer that MindSpore partitions over processes"
_LAYERS = "Use nn.Transformer, nn.TransformerEncoderLayer or nn.MultiheadAttention."
_OPTIONS = "Omit this configuration."

AttentionMask = absent(__name__, "AttentionMask", _REASON, "Compute the mask with ops.tril.")
CrossEntropyLoss = absent(__name__, "CrossEntropyLoss", _REASON, "Use nn.CrossEntropyLoss.")
EmbeddingOpParallelConfig = absent(__name__, "EmbeddingOpParallelConfig", _REASON, _OPTIONS)
FeedForward = absent(__name__, "FeedForward", _REASON, "Use two layers nn.Dense.")
FixedSparseAttention = absent(__name__, "FixedSparseAttention", _REASON, _LAYERS)
MoEConfig = absent(__name__, "MoEConfig", _REASON, _OPTIONS)
MultiHeadAttention = absent(__name__, "MultiHeadAttention", _REASON, _LAYERS)
OpParallelConfig = absent(__name__, "OpParallelConfig", _REASON, _OPTIONS)
Transformer = absent(__name__, "Transformer", _REASON, _LAYERS)
TransformerDecoder = absent(__name__, "TransformerDecoder", _REASON, _LAYERS)
TransformerDecoderLayer = absent(__name__, "TransformerDecoderLayer", _REASON, _LAYERS)
TransformerEncoder = absent(__name__, "TransformerEncoder", _REASON, _LAYERS)
TransformerEncoderLayer = absent(__name__, "TransformerEncoderLayer", _REASON, _LAYERS)
TransformerOpParallelConfig = absent(__name__, "TransformerOpParallelConfig", _REASON, _OPTIONS)
TransformerRecomputeConfig = absent(__name__, "TransformerRecomputeConfig", _REASON, "Use Cell.recompute().")
VocabEmbedding = absent(__name__, "VocabEmbedding", _REASON, "Use nn.Embedding.")

__all__ = [
    "AttentionMask", "CrossEntropyLoss", "EmbeddingOpParallelConfig", "FeedForward", "FixedSparseAttention",
    "MoEConfig", "MultiHeadAttention", "OpParallelConfig", "Transformer", "TransformerDecoder",
    "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer", "TransformerOpParallelConfig",
    "TransformerRecomputeConfig", "VocabEmbedding",
]  # fmt: skip
