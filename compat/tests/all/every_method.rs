//! Every method that furcate has of rayon's is in a case. (`ci/surface.py` checks that furcate has all of them.)

use std::collections::BTreeSet;

const SOURCES: &[&str] = &[
    include_str!("../../../adaptors/src/iter/parallel.rs"),
    include_str!("../../../adaptors/src/iter/indexed.rs"),
    include_str!("../../../adaptors/src/slice/parallel_slice.rs"),
    include_str!("../../../adaptors/src/slice/parallel_slice_mut.rs"),
    include_str!("../../../adaptors/src/str/parallel_string.rs"),
];

const CASES: &[&str] = &[include_str!("iter.rs"), include_str!("indexed.rs")];

/// Methods that rayon does not have, and those for authors of iterators.
const OTHERS: &str = "\
    producer schedule policy scheduler executor units drive scopes into_rayon_unindexed with with_policy bound_depth force_depth \
    even_levels size_limit cap join_context_policy thief_splitting with_scheduler sequential join depjoin adaptive by_blocks \
    blocks_iter log progress on priority stop_on deadline stage io_await into_stream into_stream_unordered into_iter_ordered \
    into_iter_unordered inclusive_scan exclusive_scan indexed_producer into_rayon merge merge_by merge_by_key as_parallel_slice \
    as_parallel_slice_mut as_parallel_string";

/// The methods of the traits in a source.
fn methods(source: &'static str) -> impl Iterator<Item = &'static str> {
    let traits = source.split("\npub trait ").skip(1).filter_map(|rest| rest.split("\n}").next());
    let lines = traits.flat_map(str::lines).filter_map(|line| line.strip_prefix("    fn "));
    lines.filter_map(|line| line.split(['<', '(']).next())
}

#[test]
fn every_method_is_in_a_case() {
    let others: BTreeSet<&str> = OTHERS.split_whitespace().collect();
    let methods: BTreeSet<&str> = SOURCES.iter().flat_map(|source| methods(source)).collect();
    assert!(methods.len() > 150, "{}: the sources are not read as they should be", methods.len());
    let unknown: Vec<_> = others.iter().filter(|name| !methods.contains(*name)).collect();
    assert!(unknown.is_empty(), "no methods: {unknown:?}");
    let is_called = |name: &str| {
        CASES
            .iter()
            .any(|cases| cases.contains(&format!(".{name}(")) || cases.contains(&format!(".{name}::<")))
    };
    let missing: Vec<_> = methods
        .iter()
        .filter(|name| !others.contains(*name) && !name.starts_with("async_") && !is_called(name))
        .collect();
    assert!(missing.is_empty(), "methods without a case: {missing:?}");
}
