"""Patterns of unclear English, with the advice of ``docs/style.md`` for each.

A pattern is precise before it is complete: in a sample of 20 hits, at most 4 may be good English.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.architecture.prose_text import Passage, Sentence, mask, sentences

MOST_WORDS = 35
MOST_SUMMARY = 80
#: patterns of form; all others are unclear phrases
FORM = {
    "British spelling",
    "jax in prose",
    "long sentence",
    "long summary",
    "semicolons",
    "sentence in parentheses",
}
#: words after which "what …" is an indirect question
_ASKING = (
    r"\b(about|according to|and|or|exactly|find out|matter|no idea|(depends?|based|decided?s?) on|out|so|sure|"
    r"(answer|ask|check|choose|compare|control|decide|define|demonstrate|describe|determine|document|explain|guess|know|"
    r"learn|list|match|point|print|read|recognize|record|remember|report|say|said|show|see|specify|specifies|state|tell|told|"
    r"understand|wonder|write)(s|d|ed|n|ing)?( (you|us|me|users?))?)"
)
_VERB = (
    r"is|are|was|were|has|have|had|does|do|did|can|cannot|may|must|would|will|could|should|need|needs|makes?|takes?|gives?|"
    r"knows?|holds?|stays?|runs?(?! of\b)|comes?|goes|ends?|reads?|costs?|depends?|changes?|keeps?|calls?|raises?|returns?|begins?|"
    "belongs?|contains?|sees?"
)


@dataclass(frozen=True)
class Pattern:
    """A regular expression that is searched in each masked sentence, and the advice of the guide."""

    name: str
    advice: str
    expression: re.Pattern[str]
    except_in: re.Pattern[str] | None = None  # a sentence with this has no hit
    except_after: re.Pattern[str] | None = None  # a match directly after this is no hit

    def hits(self, sentence: str) -> Iterator[re.Match[str]]:
        matches = list(self.expression.finditer(sentence))
        if matches and self.except_in and self.except_in.search(sentence):
            return
        for match in matches:
            if not (self.except_after and self.except_after.search(sentence[: match.start()])):
                yield match


def _pattern(name: str, expression: str, advice: str, except_in: str = "", except_after: str = "") -> Pattern:
    unless = re.compile(except_in, re.IGNORECASE) if except_in else None
    after = re.compile(rf"({except_after})\W*$", re.IGNORECASE) if except_after else None
    return Pattern(name, advice, re.compile(expression, re.IGNORECASE | re.MULTILINE), unless, after)


PATTERNS = (
    _pattern(
        "clause as a subject",
        r"^(what|who|whoever|whatever|whichever)\b(?!.*\?)|[;:] (what|who)\b(?!.*\?)",
        "name the thing, or the person, and make it the subject",
    ),
    _pattern(
        "clause as an object",
        r"(?<=\w )\bwhat\b(?!')",
        "name the thing",
        except_after=_ASKING,
    ),
    _pattern(
        "who as a noun",
        r"\b(for|of|by|to|with|as|than|and|that) who\b|\bwhom?ever\b",
        "name the person: users, callers",
    ),
    _pattern(
        "where for if",
        r"(?-i:^Where) (?!\w\b|`)(?!.*\?)|\bwhere (no|nothing|none|nobody|somebody|both|either|that (is|does|can|was|would)|"
        r"it (is not|is worth|pays|cannot|does not|can be|would)|they (are not|cannot|do not)|there (is|are) no)\b",
        "write 'if' for a condition, 'when' for a time",
    ),
    _pattern("that of", r"\b(that|those) of\b", "repeat the noun"),
    _pattern(
        "as there",
        r"\bas (there|here)\b(?! (is|are|was|were|can|may))|\blikewise\b|\bthe same of\b",
        "repeat the noun, or name the system",
    ),
    _pattern(
        "noun negation",
        r"(?<!there )\b(is|are|was|were|be|been|being|becomes?|remains?) (no|none of)"
        r"(?! (longer|more|less|better|worse|different|wider|larger|smaller|greater|faster|slower|other|doubt|need|matter|way)\b)[ -]",
        "negate the verb: 'is not callable', not 'is no function'",
        except_in=r"\bthere (is|are|was|were|be|been) (no|none of)\b",
    ),
    _pattern(
        "of no",
        r"\bof no (?!more\b|use\b|interest\b|importance\b|help\b|consequence\b)",
        "negate the verb, or write 'without'",
    ),
    _pattern("behind", r"\bbehind\b(?! the scenes)", "write 'after', 'below' or 'at the end of'"),
    _pattern(
        "stands in",
        r"\b(stands?|stood|standing) (in|on|beside|behind|before|there|here|alone|next|at|under|after|above|below|only)\b",
        "write 'is in', or name the action",
    ),
    _pattern(
        "lies in", r"\b(lies|lie|lay|lying) in\b(?! (?:the )?(range|interval|span|\[|\(|`))", "write 'is in'"
    ),
    _pattern(
        "causal for",
        rf", for (?!example|instance|which|whom|each|every|all\b)(?:(?!that\b|which\b|who\b|whose\b|where\b|when\b|if\b|to\b)[\w'’`·-]+ ){{1,6}}?({_VERB})\b",
        "write 'because', or a new sentence",
    ),
    _pattern("anew", r"\banew\b", "write 'again' or 'from scratch'"),
    _pattern("as ever", r"\bas ever\b", "write 'unchanged'"),
    _pattern(
        "of its own",
        r"\bof (ours|theirs|yours|its own|their own|one's own|his own)\b",
        "write 'mindgrad's', 'a separate', or leave it out",
    ),
    _pattern(
        "of which",
        r"(?<!each )(?<!neither )(?<!both )(?<!all )(?<!some )(?<!many )(?<!most )(?<!one )(?<!two )\b(of|by) (which|whom)\b|\b(of|by|with|in|to|from|for|on) whose\b|\bfrom which on\b",
        "one relative clause in a sentence: write two sentences",
    ),
    _pattern("inside of", r"\binside of\b", "write 'inside'"),
    _pattern("in the place of", r"\bin the place of\b", "write 'instead of'"),
    _pattern("invisible people", r"\b(nobody|somebody|anybody|everybody)\b", "say what the software does"),
    _pattern(
        "kin",
        r"\b(kin|relatives)\b|\b(and|or) (its|the) like\b|\band their kind\b",
        "name them, or 'related functions' with a link",
    ),
    _pattern("truth value", r"\btruth values?\b", "write 'Boolean'"),
    _pattern("beside", r"\bbeside\b", "write 'next to' or 'compared with'"),
    _pattern("gives back", r"\b(give|gives|gave|given|giving) back\b", "write 'returns' or 'frees'"),
    _pattern(
        "is told", r"\b(is|are|was|were|be|been|being) told\b(?! apart)", "write 'receives' or 'prints'"
    ),
    _pattern("asked for", r"\basked for\b", "write 'is requested' or 'is read'"),
    _pattern(
        "at once",
        r"\bat once\b",
        "write 'immediately' or 'in one call'",
        except_after=r"all|arrays|axes|batches|both|columns|devices|directions|elements|equations|files|folders|many|"
        r"operands|points|rows|samples|several|steps|systems|tensors|trips|two|values",
        except_in=r"how many|several|any number|as many|\ball ",
    ),
    _pattern(
        "rooms",
        r"\b(rooms?|house)\b|\b(the|this) (heart|walk)\b",
        "write 'package', 'core' or 'trace of one call'",
    ),
    _pattern("trip", r"(?<!round )(?<!round-)\btrips?\b(?!-| counts?\b)", "write 'iteration'"),
    _pattern(
        "corner",
        r"\bcorners?\b",
        "write 'nondifferentiable point'",
        except_in=r"image|crop|box|patch|align|upper|left|right|meet|stay|area|pixel",
    ),
    _pattern(
        "zero wins",
        r"\bzeros? wins?\b|\babsorb(s|ed|ing)?\b|\btaint(s|ed|ing)?\b",
        "write 'zero times infinity is zero', 'masked multiply' or 'possibly infinite'",
    ),
    _pattern(
        "cold, warm, hot",
        r"\b(cold|warm|hot) (calls?|functions?|regions?|paths?|code|programs?)\b|\b(calls?|functions?|regions?|programs?|it) (that )?(is|are|becomes?|stays?|gets?|was) (cold|warm|hot)\b",
        "write 'not compiled', 'compiling' or 'compiled'",
    ),
    _pattern("half precision", r"\bhalf[- ]precision\b", "write 'float16 and bfloat16'"),
    _pattern("nonzero", r"\bother than zero\b|\b(is|are) not negative\b", "write 'nonzero' or 'nonnegative'"),
    _pattern("made of", r"\b(is|are|was|were) made of\b", "write 'consists of'"),
    _pattern("picture", r"\bpictures?\b", "write 'image' or 'figure'"),
    _pattern(
        "from … on", r"\bfrom [^.,;:()]{1,30} on(?=[,.;:)]|$)", "write 'for N ≥ 16', 'above', or 'after'"
    ),
    _pattern(
        "so many",
        r"\bso (many|much|few) (?!that\b|as\b|more\b|less\b|of\b)\w+s\b(?! that\b)",
        "name the quantity",
    ),
    _pattern(
        "share of the time",
        r"\b(0\.\d+|an? (tenth|third|quarter|half|fifth|eighth|hundredth)|half) (of|as) [\w'’ ]{0,20}\b(time|long)\b",
        "write a factor with its reference: '2.5× faster than X'",
    ),
    _pattern("goes on", r"\b(goes|going|go|went) on\b(?! to\b)", "write 'continues'"),
    _pattern("looked at", r"\b(is|are|was|were|be) looked (at|for)\b", "write 'checks', 'searches'"),
    _pattern(
        "is another",
        r"\b(is|are|was|were|has|have) another(?=[,.;:)]|$)|\b(is|are) (another|others)\b|\bof others\b|\bof another type\b|\bhas another (type|shape|length|value|name|number|structure)\b",
        "write 'differs from …', and name the two things",
    ),
    _pattern(
        "both ways",
        r"\bon (both|all|the other|one|the two|either|some) ways?\b|\bway (back|forth|forwards?)\b",
        "write 'branch', 'forward pass' or 'backward pass'",
    ),
    _pattern("empty text", r"\bempty texts?\b", "write 'empty string'"),
    _pattern(
        "is refused", r"\b(is|are|was|were|be|being) refused\b", "write 'raises' with the name of the error"
    ),
    _pattern(
        "idiom",
        r"\bwithout a word\b|\bin vain\b|\bfor want of\b|\bwithout want of\b|\bas (one|they|you) likes?\b|\bto be had\b|\bas wanted\b|\bso-manieth\b|\bof late\b|\b(un)?heed(s|ed|ing)?\b",
        "say it plainly",
    ),
    _pattern("sweep", r"\bsweeps?\b", "write 'pass'"),
    _pattern(
        "jax in prose",
        r"(?<![\w/.`-])(?<!install )(?<!import )(?-i:jax)\b(?!\.\w|-|/|\[|[<>=])",
        "write 'JAX', or `jax` as code",
    ),
    _pattern(
        "British spelling",
        r"\b\w*(colour|favour|neighbour|behaviour)\w*\b|\b(optimi|initiali|normali|organi|generali|minimi|maximi|vectori|paralleli|seriali|reali|recogni|summari|linear?i|synchroni|speciali|factori|reali|discreti|regulari|quanti|locali|standardi|categori|materiali|stabili|customi)s(e[dsr]?|ing|ation|ations|ers?)\b|\b(licence|centre|centred|artefact|whilst|analyse[ds]?|grey)\b|\b(modelled|modelling|labelled|labelling|cancelled|cancelling|signalled|signalling)\b",
        "American spelling",
    ),
    _pattern("See the class", r"^See the class\b|\bwhich says more\b", "say what the name does in one line"),
    _pattern("sentence in parentheses", r"^\([^()]{20,}[.!?]\)$", "write the sentence without parentheses"),
)


@dataclass(frozen=True)
class Hit:
    """One place where a sentence has a pattern."""

    line: int
    name: str
    match: str
    sentence: str
    advice: str


def hits(passages: Iterable[Passage]) -> Iterator[tuple[str, Hit]]:
    """Find the patterns in the passages of a file; each hit comes with the kind of its passage."""
    split = [(passage, list(sentences(passage))) for passage in passages]
    # a sentence is one line of this text: most patterns do not occur in a file, and are searched once
    text = "\n".join(sentence.masked for _, parts in split for sentence in parts)
    patterns = [pattern for pattern in PATTERNS if pattern.expression.search(text)]
    for passage, parts in split:
        for sentence in parts:
            for pattern in patterns:
                for match in pattern.hits(sentence.masked):
                    yield (
                        passage.kind,
                        Hit(sentence.line, pattern.name, match[0], sentence.text, pattern.advice),
                    )
        for hit in _faults_of_form(passage, parts):
            yield passage.kind, hit


def _faults_of_form(passage: Passage, parts: list[Sentence]) -> Iterator[Hit]:
    for sentence in parts:
        if sentence.words > MOST_WORDS:
            advice = f"at most {MOST_WORDS} words: split it"
            yield Hit(sentence.line, "long sentence", f"{sentence.words} words", sentence.text, advice)
    if passage.summary and parts and len(text := parts[0].text) > MOST_SUMMARY:
        advice = f"at most {MOST_SUMMARY} characters in the first line"
        yield Hit(passage.line, "long summary", f"{len(text)} characters", text, advice)
    if mask(passage.text).count(";") > 1:
        advice = "at most one in a paragraph: write sentences or bullets"
        yield Hit(passage.line, "semicolons", ";", " ".join(passage.text.split()), advice)
