#!/usr/bin/env bash
# Tests and example of the Rust binding with the library that MXLITE_LIBRARY names; the last line counts.
set -euo pipefail
cd "$(dirname "$0")"
folder=$(dirname "$(realpath "$MXLITE_LIBRARY")")
export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$folder/rust}
cargo run --quiet --offline --release --example digits |
    awk '{ print } /^held-out accuracy/ { good = $3 >= 0.97 } END { exit !good }'
cargo run --quiet --offline --release --example cost
cargo test --offline --no-fail-fast 2>&1 |
    awk '{ print } /^test result/ { passed += $4; failed += $6 }
        END { printf "rust: %d passed, %d failed\n", passed, failed; exit passed < 30 || failed > 0 }'
