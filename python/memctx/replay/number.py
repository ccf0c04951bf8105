"""Numbers as people read them."""

from __future__ import annotations


def short(value: float) -> str:
    """A number in few characters.

    >>> short(940), short(9_840), short(131_000), short(2_400_000)
    ('940', '9.8k', '131k', '2.4M')
    """
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if value >= unit * 0.9995:
            # Three digits say enough.
            digits = 0 if value >= unit * 99.95 else 1
            return f"{value / unit:.{digits}f}".removesuffix(".0") + name
    return f"{value:.0f}"


def milliseconds(value: float) -> str:
    """A time in few characters.

    >>> milliseconds(0.42), milliseconds(12.6), milliseconds(1530)
    ('0.4 ms', '13 ms', '1.5 s')
    """
    if value >= 1000:  # noqa: PLR2004 - of a second
        return f"{value / 1000:.1f} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"  # noqa: PLR2004 - two digits say enough


def counted(count: int, one: str, many: str | None = None) -> str:
    """So many of something.

    >>> counted(1, "turn"), counted(1_200, "turn")
    ('1 turn', '1,200 turns')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def ticks(top: float, most: int = 4) -> list[float]:
    """Round numbers from 0 to at most ``top``.

    >>> ticks(43_000)
    [0, 10000.0, 20000.0, 30000.0, 40000.0]
    """
    if top <= 0:
        return [0]
    step = 10.0 ** len(str(int(top)))
    steps = [step / 100, step / 50, step / 40, step / 20, step / 10, step / 5, step / 4, step / 2]
    chosen = next((each for each in steps if top / each <= most + 0.5), step)
    return [0, *(chosen * n for n in range(1, int(top / chosen) + 1))]
