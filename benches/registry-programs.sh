#!/usr/bin/env bash
# Programs of published libraries that use rayon: encoders of images and video, provers, arrays, tokenizers, a physics engine, tools
# that read folders, collections. They run on rayon-core and on furcate's pool in its place, unchanged, as `rayon-programs.sh` runs
# its programs; the table is the same, with the peak memory of a process (median of the rounds). All libraries are built first, which
# takes 12 minutes. `REGISTRY=large` runs those of three more instead, polars, tantivy and typst, which take half an hour.
#
# Arguments and variables are those of `rayon-programs.sh`: `benches/registry-programs.sh rav1e winterfell` runs those two.
set -euo pipefail
exec env REGISTRY="${REGISTRY:-registry}" MEMORY="${MEMORY-1}" "$(dirname "$0")/rayon-programs.sh" "$@"
