"""What `keras-seq inspect` found, for people."""

from keras_seq.commands.wording import on_one_line

_MOST_OPERATIONS = 12
_MOST_GIVEN = 60  # characters of a fact of the card


def inspection_text(found: dict) -> str:
    """Write what `export.inspection.inspect` returned as a page of text."""
    parts = [
        [on_one_line(found["folder"])],
        _card(found),
        _signatures(found["signatures"]),
        _sizes(found),
        _operations(found["operations"]),
        _gpu(found["gpu"]),
        _verdict(found),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _card(found):
    card = found["card"]
    if not card:
        return [
            "Model card",
            "  none: `export.save` did not make this",
        ]
    data = card.get("data")
    data = data.get("name") if isinstance(data, dict) else data
    facts = [
        ("task", card.get("task")),
        ("data", data),
        ("licence", card.get("licence")),
        ("made", card.get("created")),
        ("with", ", ".join(_pairs(card.get("versions")))),
        ("needs", ", ".join(card.get("needs") or ())),
        ("weights", _stored(card.get("half"))),
    ]
    lines = [[name, _short(value)] for name, value in facts if value]
    for metric in card.get("metrics") or ():
        value = metric.get("value")
        value = f"{value:.4g}" if isinstance(value, float) else str(value)
        by = _short(metric.get("command", ""))
        lines.append([_short(metric.get("name")), f"{value}  ({by})"])
    golden = found["golden"]
    if golden:
        pairs = ", ".join(f"{n} of {name}" for name, n in golden.items())
        lines.append(["golden pairs", pairs])
    return ["Model card", *_columns(lines)]


def _stored(half):
    if not half:
        return ""
    return f"{half['stored']} on disk, computed in {half['computed']}"


def _pairs(versions):
    return (f"{name} {number}" for name, number in (versions or {}).items())


def _signatures(signatures):
    lines = []
    for name, signature in signatures.items():
        before = name
        for side, arrow in (("inputs", "<-"), ("outputs", "->")):
            for key, spec in signature[side].items():
                lines.append([before, arrow, key, spec["dtype"], _shape(spec)])
                before = ""
    return ["Signatures", *_columns(lines)]


def _shape(spec):
    if spec["shape"] is None:
        return "of any rank"
    return "(" + ", ".join(str(n or "any") for n in spec["shape"]) + ")"


def _sizes(found):
    lines = [[name, _megabytes(size)] for name, size in found["bytes"].items()]
    lines.append(["together", _megabytes(sum(found["bytes"].values()))])
    for dtype, weights in found["weights"].items():
        size = _megabytes(weights["bytes"])
        lines.append([f"weights, {dtype}", f"{size}  ({weights['count']:,})"])
    tokens = found["tokens"]
    for count in tokens["tables_of_words"]:
        lines.append(["table of words", f"{count:,} entries"])
    for count in tokens["sentencepiece_models"]:
        lines.append(["SentencePiece", f"{count:,} pieces"])
    if tokens["max_length"]:
        lines.append(["longest text", f"{tokens['max_length']:,} tokens"])
    return ["Sizes and tokens", *_columns(lines)]


def _megabytes(size):
    return f"{size / 1e6:9.3f} MB"


def _operations(operations):
    total = sum(operations.values())
    first = list(operations.items())[:_MOST_OPERATIONS]
    shown = ", ".join(f"{name} {count}" for name, count in first)
    more = len(operations) - len(first)
    if more > 0:
        shown += f" and {more} more (--json has all)"
    return [f"Operations: {total:,} of {len(operations)} kinds", f"  {shown}"]


def _gpu(gpu):
    if gpu["problem"]:
        return ["GPU report", f"  not made: {gpu['problem']}"]
    lines = [f"GPU report: {gpu['nodes']:,} nodes looked at"]
    if gpu["unexpected"]:
        lines.append("  without a GPU kernel:")
        lines += _columns([_row(row) for row in gpu["unexpected"]], "    ")
    else:
        lines.append("  every operation that belongs on a GPU has a kernel")
    kinds = {}
    for row in gpu["expected"]:
        kinds.setdefault(row["kind"], []).append(row["op"])
    if kinds:
        lines.append("  on the CPU by their nature:")
        lines += _columns(
            [
                [kind, ", ".join(dict.fromkeys(map(on_one_line, names)))]
                for kind, names in sorted(kinds.items())
            ],
            "    ",
        )
    lines.append("  it does not prove:")
    lines += [f"    {what}" for what in gpu["does_not_prove"]]
    return lines


def _row(row):
    types = ", ".join(f"{name}={what}" for name, what in row["types"].items())
    where = ", ".join(row["signatures"]) or "loading and saving"
    return [
        f"{on_one_line(row['op'])}({types})",
        f"{row['count']}x",
        f"in {where}",
        f"such as {on_one_line(row['example'])}",
    ]


def _verdict(found):
    lines = [f"Refused: {on_one_line(why)}" for why in found["refused"]]
    count = len(found["gpu"]["unexpected"])
    if found["gpu"]["problem"]:
        lines.append("Not checked: what a GPU lacks")
    elif count:
        lines.append(f"Not clean: {count} without a GPU kernel")
    return lines or ["Clean"]


def _columns(rows, indent="  "):
    """Align rows of words; the last column may be as long as it likes."""
    widths = {}
    for row in rows:
        for column, word in enumerate(row[:-1]):
            widths[column] = max(widths.get(column, 0), len(word))
    return [
        indent
        + "  ".join(
            [
                *(w.ljust(widths[i]) for i, w in enumerate(row[:-1])),
                row[-1],
            ]
        ).rstrip()
        for row in rows
    ]


def _short(value):
    text = on_one_line(str(value))
    return text if len(text) <= _MOST_GIVEN else text[: _MOST_GIVEN - 3] + "..."
