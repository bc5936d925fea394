"""Texts that break tokenizers, and hypothesis strategies for more of them."""

from hypothesis import strategies as st

AWKWARD = {
    "empty": "",
    "space": " ",
    "line end": "\n",
    "one character": "a",
    "ten thousand characters": "lovely film " * 833 + "abcd",
    "one long word": "x" * 10_000,
    "composed": "É",
    "decomposed": "E\u0301",
    "sharp s": "Straße STRASSE",
    "dotted capital i": "İstanbul I",
    "cyrillic": "МОСКВА Москва",
    "greek final sigma": "ΟΔΟΣ ΣΑΣ",
    "composed when small only": "J\u030c H\u0331",
    "chinese": "你好，世界。",
    "japanese half width": "ｶﾞｷﾞ テスト",
    "korean": "한국어 \u1112\u1161\u11ab",
    "arabic": "مرحبا بالعالم",
    "hindi": "नमस्ते दुनिया",
    "joined emoji": "👩‍👩‍👧‍👦 ok 👍🏽",
    "nul": "a\0b",
    "control characters": "a\x01\x1f\x7f\u0085b",
    "no-break and wide spaces": "a\u00a0b\u3000c\u2028d",
    "byte order mark": "\ufeffa",
    "not utf-8": b"\xff\xfe a \xe4\xbd",
    "half a character": b"caf\xc3",
    "lone surrogate": "a\ud800b",
    "start literal": "[START] I am [END] [PAD] [UNK]",
    "special literals": "<s> </s> <pad> <unk> <0x41> <s></s>",
    "space of sentencepiece": "\u2581 a\u2581\u2581b",
    "unknown words": "qzqz xxkj vvvw",
    "ligatures": "ﬁne ½ ™ …",
    "spaces everywhere": "  many \t\n kinds   of  space ",
}

AWKWARD_BYTES = [
    text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    for text in AWKWARD.values()
]

# Every assigned character that both Unicode databases in play know alike:
# Python 3.11 has version 14, TensorFlow's own lower-casing is older.
_CHARACTERS = st.characters(
    max_codepoint=0x1FFFF,
    exclude_categories=("Cs", "Cn", "Co"),
    exclude_characters=[
        *map(chr, range(0x2C2F, 0x2C60)),
        *map(chr, range(0xA7C0, 0xA800)),
        *map(chr, range(0x10570, 0x105C0)),
    ],
)
_MARKS = st.sampled_from(
    "\u0301\u0308\u0323\u030c\u3099\uff9e\u1112\u1161\u11abｶΣİIJÀ \t\u00a0"
)
TEXTS = st.text(st.one_of(_CHARACTERS, _MARKS), max_size=20)
BYTES = st.one_of(st.binary(max_size=20), TEXTS.map(str.encode))
MANY_TEXTS = st.lists(BYTES, max_size=25)  # one call is dear, one text is not
FORMS = st.sampled_from([None, "NFC", "NFKC"])
