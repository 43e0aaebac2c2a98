#!/usr/bin/env bash
# Every example runs, on small inputs.
set -euo pipefail
cargo build --release --examples --features derive,stream --locked
cargo run --release --locked --example words
cargo run --release --locked --example words -- README.md book
cargo run --release --locked --example words -- --skewed
if cargo run --release --locked --example words -- no/such/path; then
    echo "a missing path must be an error" >&2
    exit 1
fi
cargo run --release --locked --example grep -- par_lines README.md
cargo run --release --locked --example grep -- --compare furcate README.md
cargo run --release --locked --example crawl -- 200 5
if cargo run --release --locked --example crawl -- none; then
    echo "what is no number must be an error" >&2
    exit 1
fi
cargo run --release --locked --features tokio --example server -- soak --requests 5000
cargo run --release --locked --features tokio --example server -- compare --seconds 2
if cargo run --release --locked --features tokio --example server -- soak --requests none; then
    echo "what is no number must be an error" >&2
    exit 1
fi
for example in deadline_search fannkuch find_first graph latency max_subarray merge_sort pipeline; do
    cargo run --release --features derive,stream --locked --example "$example"
done

# Three programs under rayon and furcate, which have to print the same.
examples/ported/compare.py --rounds 1
