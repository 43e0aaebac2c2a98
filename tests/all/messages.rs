//! The compiler's messages about chains that make no sense: they name the reason, and the line.
//!
//! The documentation of `src/compile_fail.rs` tests that such chains do not compile. This test builds all of them as
//! examples of one package, and searches the messages for the words that a user needs.
#![cfg(not(furcate_rayon))]

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// A name, a line that does not compile, and words of the message.
type Mistake = (&'static str, &'static str, &'static [&'static str]);

/// Mistakes without the features of furcate.
const MISTAKES: &[Mistake] = &[
    (
        "scheduler_after_blocks",
        "(0..9).into_par_iter().by_blocks([3]).join().for_each(drop);",
        &["takes the blocks' place: name it before"],
    ),
    (
        "adaptive_after_blocks",
        "(0..9).into_par_iter().by_blocks([3]).adaptive().for_each(drop);",
        &["takes the blocks' place: name it before"],
    ),
    (
        "scheduler_of_ones_own_after_blocks",
        "(0..9).into_par_iter().by_exponential_blocks().with_scheduler(furcate::Join).for_each(drop);",
        &["takes the blocks' place: name it before"],
    ),
    (
        "adaptive_after_blocks_and_a_map",
        "(0..9).into_par_iter().by_exponential_blocks().map(|x| x + 1).adaptive().for_each(drop);",
        &["takes the blocks' place: name it before"],
    ),
    (
        "schedule_after_blocks",
        "(0..9).into_par_iter().by_blocks([3]).with(furcate::Plan::new().join()).for_each(drop);",
        &["takes the blocks' place: name it before"],
    ),
    (
        "scheduler_after_a_schedule_with_blocks",
        "(0..9).into_par_iter().with(furcate::Plan::new().by_blocks([3])).join().for_each(drop);",
        &["takes the blocks' place: name it before"],
    ),
    (
        "scheduler_after_blocks_in_a_plan",
        "(0..9).into_par_iter().with(furcate::Plan::new().by_blocks([3]).join()).for_each(drop);",
        &["takes the blocks' place: name it before"],
    ),
    (
        "schedule_behind_io_await",
        "(0..9).into_par_iter().map(|x| async move { x }).io_await().with(furcate::Plan::new()).for_each(drop);",
        &["would have its workers wait", "policies say how it is divided"],
    ),
    (
        "engine_after_a_priority",
        "(0..9).into_par_iter().priority(furcate::Priority::Urgent).map(|x| x + 1).on(furcate::Pool).for_each(drop);",
        &["named after `priority`", ".on(..).priority(..)"],
    ),
    (
        "a_second_priority",
        "(0..9).into_par_iter().with(furcate::Plan::new().priority(furcate::Priority::Background)).priority(furcate::Priority::Urgent).for_each(drop);",
        &["named after `priority`", "name one priority"],
    ),
    (
        "schedule_after_a_priority",
        "(0..9).into_par_iter().priority(furcate::Priority::Urgent).with(furcate::Plan::new()).for_each(drop);",
        &["named after `priority`"],
    ),
    (
        "engine_after_a_priority_in_a_plan",
        "(0..9).into_par_iter().with(furcate::Plan::new().priority(furcate::Priority::Urgent).on(furcate::Pool)).for_each(drop);",
        &["named after `priority`"],
    ),
    (
        "a_policy_as_a_schedule",
        "(0..9).into_par_iter().with(furcate::policy::SizeLimit::new(2)).for_each(drop);",
        &["is not a schedule", ".with_policy(..)"],
    ),
    (
        "blocks_of_blocks",
        "(0..9).into_par_iter().by_blocks([3]).by_uniform_blocks(2).for_each(drop);",
        &["blocks of blocks", "name all sizes in one"],
    ),
    (
        "adaptive_behind_io_await_and_a_map",
        "(0..9).into_par_iter().map(|x| async move { x }).io_await().map(|x| x + 1).adaptive().for_each(drop);",
        &["would have its workers wait", "policies say how it is divided"],
    ),
    (
        "cap_right_behind_io_await",
        "(0..9).into_par_iter().map(|x| async move { x }).io_await().cap(2).for_each(drop);",
        &["`cap` beside `io_await` or `par_bridge_async` cannot be kept", "`.max_in_flight(n)`"],
    ),
    (
        "io_await_right_behind_cap",
        "(0..9).into_par_iter().map(|x| async move { x }).cap(2).io_await().for_each(drop);",
        &["`cap` beside `io_await` or `par_bridge_async` cannot be kept", "`.max_in_flight(n)`"],
    ),
    (
        "cap_behind_io_await",
        "(0..9).into_par_iter().map(|x| async move { x }).io_await().map(|x| x + 1).cap(2).for_each(drop);",
        &["`cap` beside `io_await` or `par_bridge_async` cannot be kept", "`.max_in_flight(n)`"],
    ),
    (
        "shared_cap_behind_io_await",
        "(0..9).into_par_iter().map(|x| async move { x }).io_await().with_policy(furcate::policy::Cap::new(2)).for_each(drop);",
        &["`cap` beside `io_await` or `par_bridge_async` cannot be kept", "`.max_in_flight(n)`"],
    ),
    (
        "cap_before_io_await",
        "(0..9).into_par_iter().size_limit(1).cap(2).size_limit(2).map(|x| async move { x }).io_await().for_each(drop);",
        &["`cap` beside `io_await` or `par_bridge_async` cannot be kept", "`.max_in_flight(n)`"],
    ),
    (
        "scheduler_after_io_await",
        "(0..9).into_par_iter().map(|x| async move { x }).io_await().adaptive().for_each(drop);",
        &["would have its workers wait", "policies say how it is divided", ".io_await().thief_splitting(4)"],
    ),
    (
        "io_await_after_adaptive",
        "(0..9).into_par_iter().map(|x| async move { x }).adaptive().io_await().for_each(drop);",
        &["`adaptive` before `io_await` would have no effect", ".thief_splitting(4).io_await()"],
    ),
    (
        "io_await_after_adaptive_and_a_map",
        "(0..9).into_par_iter().adaptive().map(|x| async move { x }).io_await().for_each(drop);",
        &["`adaptive` before `io_await` would have no effect"],
    ),
    (
        "io_await_after_thief_splitting_adaptive_and_a_map",
        "(0..9).into_par_iter().thief_splitting(3).adaptive().map(|x| async move { x }).io_await().for_each(drop);",
        &["`adaptive` before `io_await` would have no effect", "leave `adaptive()` out"],
    ),
    (
        "rev_right_behind_io_await",
        "(0..9).into_par_iter().map(|x| async move { x }).io_await().rev().for_each(drop);",
        &[
            "does not know how many items it has",
            "`rev` stands before `io_await`: `.rev().map(request).io_await()`",
        ],
    ),
    (
        "rev_behind_io_await_a_map_and_a_policy",
        "(0..9).into_par_iter().map(|x| async move { x }).io_await().map(|x| x + 1).bound_depth(3).rev().for_each(drop);",
        &[
            "`IoAwait<",
            "does not know how many items it has",
            "`rev` stands before `io_await`: `.rev().map(request).io_await()`",
        ],
    ),
    (
        "merge_right_behind_io_await",
        "(0..9).into_par_iter().map(|x| async move { x }).io_await().merge(0..9).for_each(drop);",
        &[
            "cannot be looked at without being taken",
            ".io_await().collect::<Vec<_>>().into_par_iter().merge(..)",
        ],
    ),
    (
        "merge_behind_io_await_and_a_map",
        "(0..9).into_par_iter().map(|x| async move { x }).io_await().map(|x| x + 1).merge(0..9).for_each(drop);",
        &[
            "cannot be looked at without being taken",
            ".io_await().collect::<Vec<_>>().into_par_iter().merge(..)",
        ],
    ),
    (
        "io_await_after_blocks_and_a_filter",
        "(0..9).into_par_iter().by_blocks([3]).map(|x| async move { x }).filter(|_| true).io_await().for_each(drop);",
        &["blocks are named behind `io_await`"],
    ),
    (
        "scheduler_after_io_await_and_several_adaptors",
        "(0..9).into_par_iter().map(|x| async move { x }).io_await().inspect(|_| ()).filter(|_| true).fold(|| 0, |a, b| a + b).join().for_each(drop);",
        &["would have its workers wait", ".io_await().thief_splitting(4)"],
    ),
    (
        "with_scheduler_after_io_await",
        "(0..9).into_par_iter().map(|x| async move { x }).io_await().with_scheduler(furcate::Join).for_each(drop);",
        &["would have its workers wait", ".io_await().thief_splitting(4)"],
    ),
    (
        "with_scheduler_after_io_await_and_a_map",
        "(0..9).into_par_iter().map(|x| async move { x }).io_await().map(|x| x + 1).with_scheduler(furcate::Join).for_each(drop);",
        &["would have its workers wait", ".io_await().thief_splitting(4)"],
    ),
    (
        "positions_of_a_filter_behind_io_await",
        "(0..9).into_par_iter().filter(|x| x % 2 > 0).map(|x| async move { x }).io_await().enumerate().for_each(drop);",
        &["does not know how many items it has", "stand right behind `io_await`"],
    ),
    (
        "positions_behind_a_filter_behind_io_await",
        "(0..9).into_par_iter().map(|x| async move { x }).io_await().filter(|x| x % 2 > 0).enumerate().for_each(drop);",
        &["does not know how many items it has", "`map`, `inspect`, `update`, `cloned` and `copied`"],
    ),
    (
        "sum_of_futures",
        "println!(\"{}\", (0..9_u64).into_par_iter().map(|x| async move { x }).sum::<u64>());",
        &["cannot be made by adding up items of type", ".io_await().sum()"],
    ),
    (
        "product_of_futures",
        "println!(\"{}\", (0..9_u64).into_par_iter().map(|x| async move { x }).product::<u64>());",
        &["cannot be made by multiplying items of type", ".io_await().product()"],
    ),
    (
        "collection_of_futures",
        "(0..9_u64).into_par_iter().map(|x| async move { x }).collect::<Vec<u64>>();",
        &["cannot be collected", ".io_await().collect()"],
    ),
    (
        "io_await_inside_flat_map",
        "(0..9_u64).into_par_iter().flat_map(|n| (0..n).into_par_iter().map(|x| async move { x }).io_await()).for_each(drop);",
        &["inside `flat_map`", "one future after the other", ".flat_map(|x| requests(x)).io_await()"],
    ),
    (
        "position_after_interruption",
        "let _ = (0..9).into_par_iter().stop_on(&Default::default()).position_first(|x| x == 3);",
        &["nobody knows how many items will have been done", ".enumerate().stop_on(&token).find_first(..)"],
    ),
    (
        "comparison_after_interruption",
        "let _ = (0..9).into_par_iter().stop_on(&Default::default()).map(|x| x + 1).eq(0..9);",
        &["nobody knows how many items will have been done", ".stop_on(&token).collect::<Vec<_>>()"],
    ),
    (
        "stream_after_interruption",
        "let _ = (0..9).into_par_iter().stop_on(&Default::default()).into_stream(3);",
        &["has no result that could say whether a stop has ended it", "drop the stream"],
    ),
    (
        "numbers_of_a_filter_after_interruption",
        "let _ = (0..9).into_par_iter().filter(|x| *x > 3).stop_on(&Default::default()).enumerate().count();",
        &["does not know how many items it has", "before `filter`"],
    ),
    (
        "blocks_before_io_await",
        "(0..9).into_par_iter().map(|x| async move { x }).by_blocks([3]).io_await().for_each(drop);",
        &["blocks are named behind `io_await`"],
    ),
    (
        "stream_without_its_feature",
        "let _ = (0..9).into_par_iter().map(|x| x + 1).into_stream(3);",
        &["streams need furcate's feature `stream`", "features = [\\\"stream\\\"]"],
    ),
    (
        "bridge_without_its_feature",
        "let _ = [1, 2].par_bridge_async().map(|x| x + 1).sum::<i32>();",
        &["streams need furcate's feature `stream`"],
    ),
    (
        "spread_without_its_crate",
        "let _ = (0..9).into_par_iter().spread(&3).sum::<i32>();",
        &["a method of the crate furcate-cluster", "use furcate_cluster::SpreadOver;"],
    ),
    (
        "bound_behind_a_map",
        "(0..9).into_par_iter().map(|x| async move { x }).io_await().map(|x| x + 1).max_in_flight(3).for_each(drop);",
        &["no method named `max_in_flight`", "is available on `IoAwait<"],
    ),
    ("no_futures", "(0..9).into_par_iter().io_await().for_each(drop);", &["is not a future"]),
    (
        "plain_side_before_io_await",
        "(0..9).into_par_iter().chain((0..9).into_par_iter().map(|x| async move { x }).io_await()).for_each(drop);",
        &["await that one, too"],
    ),
    (
        "one_number_for_blocks",
        "(0..9).into_par_iter().by_blocks(3).for_each(drop);",
        &["does not say how large blocks are", "std::iter::repeat(1000)"],
    ),
    (
        "zip_without_positions",
        "(0..9).into_par_iter().zip((0..9).into_par_iter().filter(|x| x % 2 == 0)).for_each(drop);",
        &["does not know how many items it has", "before `filter`"],
    ),
    (
        "nano_blocks_too_late",
        "(0..9).into_par_iter().adaptive().map(|x| x + 1).nano_blocks(1, 2).for_each(drop);",
        &["no method named `nano_blocks`", "is available on `WithScheduler<"],
    ),
    (
        "merge_of_mutable",
        "[1].par_iter_mut().merge([2].par_iter_mut()).for_each(drop);",
        &["cannot be looked at without being taken", "collect anything else first"],
    ),
    (
        "indivisible",
        "struct Whole; Whole.wrap_iter().for_each(drop);",
        &["`Whole` cannot be cut in two", "derive it"],
    ),
    (
        "reference_to_a_vector_in_a_pair",
        "let v = vec![1, 2]; (&v, 0..2).wrap_iter().for_each(drop);",
        &["`&Vec<{integer}>` cannot be cut in two", "write `&v[..]` for `&v`"],
    ),
    (
        "reference_to_a_vector_among_four",
        "let v = vec![1, 2]; (&v[..], 0..2, 0..2, &v).wrap_iter().for_each(drop);",
        &["`&Vec<{integer}>` cannot be cut in two", "write `&v[..]` for `&v`"],
    ),
    (
        "no_policy",
        "(0..9).into_par_iter().with_policy(3).for_each(drop);",
        &["does not say when to divide", ".bound_depth(3)"],
    ),
    (
        "no_scheduler",
        "(0..9).into_par_iter().with_scheduler(3).for_each(drop);",
        &["does not say how parts are run", ".adaptive()"],
    ),
    ("no_engine", "(0..9).into_par_iter().on(4).for_each(drop);", &["is nowhere to run tasks", "Inline"]),
];

/// Mistakes with the feature `stream`.
const OF_STREAMS: &[Mistake] = &[
    (
        "adaptive_behind_a_stream",
        "(0..9).into_par_iter().into_stream(3).par_bridge_async().adaptive().for_each(drop);",
        &["behind `io_await` or `par_bridge_async` would have its workers wait", "leave the scheduler out"],
    ),
    (
        "cap_behind_a_stream",
        "(0..9).into_par_iter().into_stream(3).par_bridge_async().cap(2).for_each(drop);",
        &["`cap` beside `io_await` or `par_bridge_async` cannot be kept", "`.max_in_flight(n)`"],
    ),
    (
        "stream_inside_flat_map",
        "(0..9).into_par_iter().flat_map(|n| (0..n).into_par_iter().into_stream(3).par_bridge_async()).for_each(drop);",
        &["an `io_await` or `par_bridge_async` inside `flat_map`"],
    ),
    (
        "rev_behind_a_stream",
        "(0..9).into_par_iter().into_stream(3).par_bridge_async().rev().for_each(drop);",
        &["does not know how many items it has", "or collect first"],
    ),
];

#[test]
fn messages_say_why() {
    say_why("messages", "", MISTAKES);
    say_why("messages-of-streams", "'stream'", OF_STREAMS);
}

/// Builds the mistakes as examples of a package.
fn say_why(package_name: &str, features: &str, mistakes: &[Mistake]) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let package = folder.join(package_name);
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
    fs::create_dir_all(package.join("examples")).unwrap();
    fs::create_dir_all(package.join("src")).unwrap();
    fs::write(package.join("src/lib.rs"), "").unwrap();
    let mut manifest =
        format!("[package]\nname = '{package_name}'\nedition = '2024'\n\n[workspace]\n\n[dependencies]\n");
    writeln!(
        manifest,
        "furcate = {{ path = '{}', default-features = false, features = [{features}] }}",
        repository.display()
    )
    .unwrap();
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::copy(repository.join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    for (name, line, _) in mistakes {
        // The message has to name the third line.
        let program = format!("use furcate::prelude::*;\nfn main() {{\n    {line}\n}}\n");
        fs::write(package.join(format!("examples/{name}.rs")), program).unwrap();
    }
    // A word at the wrong place of a chain is found by `cargo build` only: `cargo check` sees generic code.
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--examples", "--keep-going", "--offline", "--message-format=json"])
        .current_dir(&package)
        .env("CARGO_TARGET_DIR", folder.join("messages/target"))
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output()
        .expect("cargo");
    let (messages, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    for (name, line, words) in mistakes {
        let target = format!("\"name\":\"{name}\"");
        let of_it: String = messages.lines().filter(|message| message.contains(&target)).collect();
        assert!(of_it.contains("\"level\":\"error\""), "it compiles: {line}\n{log}");
        for word in *words {
            assert!(of_it.contains(word), "no word of `{word}` about: {line}\n{of_it}");
        }
        // (A macro declares the adaptors behind `stop_on`.)
        let shows_macros = of_it.contains("in this macro invocation") && !line.contains("stop_on");
        assert!(
            !shows_macros || of_it.contains("E0080"),
            "the message shows the library's macros: {line}\n{of_it}"
        );
        assert!(of_it.contains(&format!("examples/{name}.rs:3:")), "the line is not named: {line}\n{of_it}");
    }
    println!("{} messages say why", mistakes.len());
}
