#!/usr/bin/env bash
# The tests of what the feature `tokio` adds: the other steps build without it.
set -euo pipefail
cargo test -p furcate --features tokio,stream --test tokio_runtime --test no_reactor --test pipeline_stages --locked
# The example `server`. Each of its runs is killed after two minutes.
cargo test -p furcate --features tokio --test examples --locked -- server
cargo test -p furcate-pool --features tokio --test spawn_future --locked
cargo test -p furcate-adaptors --features tokio,stream --lib --locked -- stream::sources
