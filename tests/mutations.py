"""Random damage to the bytes of a file."""

ODD = (
    *(b"nan", b"inf", b"-1", b"1e999", b"9" * 30, b"1e400", b"null", b"true", b"[", b"{", b"}"),
    *(b"\x00", b"\xff\xff", b"\r", b"\n", b",", b'"', b"\x1b[31m", b"../", b"x" * 200_000),
)


def mutated(content, random):
    """A copy of some bytes with a few random changes."""
    content = bytearray(content)
    for _ in range(random.choice([1, 1, 1, 2, 3, 6])):
        place = random.randrange(len(content) + 1)
        match random.randrange(6):
            case 0:
                content[place : place + 1] = random.randbytes(1)
            case 1:
                content[place : place + 1] = bytes([random.choice([0, 1, 127, 128, 255])])
            case 2:
                del content[place : place + random.choice([1, 2, 10, 100])]
            case 3:
                content[place:place] = random.choice(ODD)
            case 4:
                other, size = random.randrange(len(content) + 1), random.choice([1, 4, 50])
                content[place : place + size] = content[other : other + size]
            case 5:
                del content[place:]
    return bytes(content)
