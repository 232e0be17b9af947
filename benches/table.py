"""A table of measured figures, each held to its bound."""


class Table:
    """Figures as they come, each held to its bound."""

    def __init__(self):
        self.passed = self.failed = 0
        print(f"{'figure':<58} {'measured':>12} {'at most':>10}", flush=True)

    def hold(self, figure: str, measured: float, bound: float, unit: str) -> None:
        good = measured <= bound
        self.passed += good
        self.failed += not good
        print(
            f"{figure:<58} {shown(measured, unit):>12} {shown(bound, unit):>10}  {'pass' if good else 'FAIL'}",
            flush=True,
        )

    def tell(self, figure: str, measured: float, unit: str) -> None:
        print(f"{figure:<58} {shown(measured, unit):>12}", flush=True)

    def close(self, seconds: float) -> int:
        """The line that the counter of tests/run.py reads, and the exit code."""
        word = "FAILED" if self.failed else "ok"
        print(f"test result: {word}. {self.passed} passed; {self.failed} failed; {seconds:.0f} s")
        return 1 if self.failed else 0


def shown(value: float, unit: str) -> str:
    if unit == "s" and value < 0.1:
        value, unit = value * 1000, "ms"
    digits = 0 if float(value).is_integer() or value >= 1000 else 2
    return f"{value:,.{digits}f} {unit}".rstrip()
