"""Files as they come out of broken disks, wrong programs and bad hands."""

import re

KINDS = ("cut", "dropped", "doubled", "flipped", "binary", "huge", "nested", "shuffled lines", "shuffled fields")
KINDS += ("named twice", "utf-16", "utf-32", "cp500")


def damage(content, rng):
    """The bytes of a file with one thing done to them, drawn from a ``random.Random``; sometimes nothing changes."""
    kind, at = rng.choice(KINDS), rng.randrange(len(content) + 1)
    before, after = content[:at], content[at:]
    if kind == "cut":
        return before
    if kind == "dropped":
        return before + after[rng.randrange(50) :]
    if kind == "doubled":
        return before + content
    if kind == "flipped":
        return before + bytes([byte ^ 1 << rng.randrange(8) for byte in after[:1]]) + after[1:]
    if kind in ("binary", "huge", "nested"):
        return before + {"binary": rng.randbytes(20), "huge": b"9" * 200_000, "nested": b"[" * 100_000}[kind] + after
    if kind == "named twice":
        return re.sub(rb'("\w+":)', rb"\1 0, \1", content, count=1)
    if kind.startswith("shuffled"):
        lines = content.split(b"\n")
        if kind == "shuffled lines":
            return b"\n".join(rng.sample(lines, len(lines)))
        mark = b"," if b"," in content else b" "
        return b"\n".join(mark.join(rng.sample(fields := line.split(mark), len(fields))) for line in lines)
    return content.decode(errors="replace").encode(kind, errors="replace")
