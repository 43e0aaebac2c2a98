//! The tests of the library as its users see it: all crates together, with all features. A package of its own, because they take minutes to
//! compile: `cargo test` leaves them out, `cargo test --workspace` runs them.

mod async_terminals;
mod async_terminals_all;
mod async_terminals_chains;
mod caller_locations;
mod chains;
mod chosen_at_run_time;
mod combinations;
mod division_trees;
mod engines;
mod examples;
mod external_sorts;
mod external_threads;
mod floats;
mod from_rayon;
mod held_locks;
mod into_stream;
mod into_stream_bounds;
mod into_stream_threads;
mod io_await;
mod io_await_chains;
mod io_await_counts;
mod io_await_ends;
mod io_await_faults;
mod io_await_first;
mod io_await_in_order;
mod io_await_proactive;
mod io_await_spread;
mod io_await_stops;
mod io_await_turns;
mod kits;
mod kvik_regressions;
mod limits;
mod merge_sort;
mod messages;
mod nesting;
mod pipeline;
mod pipeline_stages;
mod schedules;
mod stops;
mod streams;
mod support;
mod tokio_runtime;

// The examples' own tests. Each example has the module `common`.
#[cfg(not(furcate_rayon))]
#[path = "../../examples/crawl/main.rs"]
#[allow(dead_code, clippy::duplicate_mod, reason = "the tests call a part")]
mod crawl;
#[path = "../../examples/grep.rs"]
#[allow(dead_code, clippy::duplicate_mod, reason = "the tests call a part")]
mod grep;
#[path = "../../examples/merge_sort/main.rs"]
#[allow(dead_code, clippy::duplicate_mod, reason = "the tests call a part")]
mod merge_sort_example;
#[path = "../../examples/words/main.rs"]
#[allow(dead_code, clippy::duplicate_mod, reason = "the tests call a part")]
mod words;
