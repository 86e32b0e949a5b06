"""Functions of text: vocabularies, tokenizers, edits; values are those of MindSpore 2.10."""

import numpy as np
import pytest

import mindgrad as ms
import mindgrad.dataset as ds
from mindgrad.dataset import text

VOCAB = text.Vocab.from_list(["un", "##aff", "##able", "a", "[UNK]", "hello", ","])


@pytest.mark.parametrize(
    ("function", "data", "result"),
    [
        (text.WhitespaceTokenizer(), "  a  b ", ["a", "b"]),
        (text.WhitespaceTokenizer(), "  ", [""]),
        (text.UnicodeCharTokenizer(), "añ b", ["a", "ñ", " ", "b"]),
        (text.RegexTokenizer(r"\s+"), "a b  c", ["a", "b", "c"]),
        (text.RegexTokenizer(r"\s+", r"\s+"), "a b", ["a", " ", "b"]),
        (text.PythonTokenizer(str.split), "a b", ["a", "b"]),
        (text.BasicTokenizer(), "Hello, WÖrld!", ["Hello", ",", "WÖrld", "!"]),
        (text.BasicTokenizer(True), "WÖrld! 你好 [UNK]x", ["world", "!", "你", "好", "[UNK]", "x"]),
        (text.WordpieceTokenizer(VOCAB), ["unaffable", "a", "zz"], ["un", "##aff", "##able", "a", "[UNK]"]),
        (text.BertTokenizer(VOCAB, lower_case=True), "Hello, zz", ["hello", ",", "[UNK]"]),
        (text.SlidingWindow(2), ["a", "b", "c"], [["a", "b"], ["b", "c"]]),
        (text.SlidingWindow(5), ["a", "b", "c"], []),
        (text.Ngram(2), ["a", "b", "c"], ["a b", "b c"]),
        (text.Ngram([2, 1], ("_", 1), ("!", 1), "-"), ["a", "b"], ["_-a", "a-b", "b-!", "a", "b"]),
        (text.CaseFold(), "ÄbC ẞ", "äbc ss"),
        (text.NormalizeUTF8(), "ﬁ", "fi"),
        (text.NormalizeUTF8(text.NormalizeForm.NONE), "ﬁ", "ﬁ"),
        (text.RegexReplace("a+", "X"), "aabaa", "XbX"),
        (text.RegexReplace("a+", "X", False), "aabaa", "Xbaa"),
        (text.AddToken("T"), ["a", "b"], ["T", "a", "b"]),
        (text.AddToken("T", False), ["a", "b"], ["a", "b", "T"]),
        (text.Truncate(2), ["a", "b", "c"], ["a", "b"]),
        (text.ToNumber(ms.float32), ["1", "2.5"], [1.0, 2.5]),
        (text.to_str, np.array([b"a"]), ["a"]),
        (text.to_bytes, np.array(["a"]), [b"a"]),
    ],
)
def test_functions_of_text(function, data, result):
    assert function(data).tolist() == result


def test_pairs_are_cut_at_the_longer_one():
    first, second = text.TruncateSequencePair(5)([1, 2, 3], [4, 5, 6, 7])
    assert (first.tolist(), second.tolist()) == ([1, 2, 3], [4, 5])
    first, second = text.TruncateSequencePair(4)([1, 2, 3], [4, 5, 6])
    assert (first.tolist(), second.tolist()) == ([1, 2], [4, 5])


def test_vocabularies(tmp_path):
    vocab = text.Vocab.from_list(["a", "b", "c"], ["<unk>", "<pad>"])
    assert vocab.tokens_to_ids(["a", "zz"]) == [2, -1]
    assert vocab.tokens_to_ids("b") == 3
    assert vocab.ids_to_tokens([0, 2]) == ["<unk>", "a"]
    assert text.Vocab.from_list(["a"], ["<u>"], False).vocab() == {"a": 0, "<u>": 1}
    (tmp_path / "words.txt").write_text("x,1\ny,2\nz,3\n")
    assert text.Vocab.from_file(tmp_path / "words.txt", ",", 2).vocab() == {"x": 0, "y": 1}
    words = ds.NumpySlicesDataset({"t": ["b", "a", "b", "c", "c", "c"]})
    assert text.Vocab.from_dataset(words, "t").vocab() == {"c": 0, "b": 1, "a": 2}
    assert text.Vocab.from_dataset(words, freq_range=(2, 2), special_tokens=["<p>"]).vocab() == {
        "<p>": 0,
        "b": 1,
    }
    assert text.Vocab.from_dataset(words, top_k=1).vocab() == {"c": 0}
    with pytest.raises(ValueError, match="'a' appears twice"):
        text.Vocab.from_list(["a", "a"])


def test_numbers_of_tokens_in_a_pipeline():
    vocab = text.Vocab.from_list(["a", "b"], ["<unk>"])
    data = ds.NumpySlicesDataset({"t": ["b a", "c b"]}, shuffle=False)
    numbers = data.map([text.WhitespaceTokenizer(), text.Lookup(vocab, "<unk>")], "t").batch(2)
    ((batch,),) = list(numbers)
    assert (batch.asnumpy().tolist(), batch.dtype) == ([[2, 1], [0, 2]], ms.int32)
    with pytest.raises(RuntimeError, match="has no token 'q'; pass an 'unknown_token'"):
        text.Lookup(vocab)("q")
    with pytest.raises(ValueError, match="no 'unknown_token' 'z'"):
        text.Lookup(vocab, "z")
    with pytest.raises(RuntimeError, match="out of bounds for int8"):
        text.ToNumber(ms.int8)(["300"])
    with pytest.raises(TypeError, match="must be strings, but got int64"):
        text.CaseFold()([1])
