#!/usr/bin/env bash
# Tests and example of the Perl binding with the library that MXLITE_LIBRARY names; the last line counts.
set -euo pipefail
cd "$(dirname "$0")"
perl examples/digits.pl | awk '{ print } /^held-out accuracy/ { good = $3 >= 0.97 } END { exit !good }'
perl examples/cost.pl
prove -lv t |
    awk '/^ok / { passed++; next } { print } /^not ok / { failed++ }
        END { printf "perl: %d passed, %d failed\n", passed, failed; exit passed < 30 || failed > 0 }'
