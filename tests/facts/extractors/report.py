"""Report of the outcome of every way in which a model can fail; `make extractors` prints it."""

from __future__ import annotations

from memctx.providers import retry

from .cases import APIS, CASES, outcome_of


def main() -> None:
    """Print a line for each case, and a second one where the APIs differ."""
    retry.FIRST_DELAY = 0.01
    width = max(len(case.name) for case in CASES)
    print(f"{'case':<{width}}  {'api':<9}  {'time':>6}  outcome")
    for case in CASES:
        outcomes = {api: outcome_of(case, api) for api in APIS}
        rows = {str(outcome): api for api, outcome in reversed(outcomes.items())}
        for text, api in reversed(rows.items()):
            seconds = outcomes[api].seconds
            print(
                f"{case.name:<{width}}  {api if len(rows) > 1 else 'both':<9}  {seconds:>5.2f}s  {text}"
            )


if __name__ == "__main__":
    main()
