//! The merge sort of Kvik's paper (Sections 3.6.1 and 4.2): policies at both levels, and other libraries' stable sorts.
//!
//! `cargo bench -p furcate-benches --bench merge_sorts`; words after `--` choose rows whose names contain one of them, `ROUNDS=n` more or
//! fewer rounds, `PAPER=1` 10^8 numbers, `QUICK=1` few. The sort is that of `examples/merge_sort`.
//!
//! *a / b*: the sort by iterators, with the policy a for the division into leaves and b for that of the merges. *iterator sort* and *slice
//! sort*: the paper's best schedule, `join_context` and `depjoin` with adaptive merges. The two sorts of C++ are compiled by g++ with the
//! paper's options and run in a process of their own, which generates the same numbers and times its sort. Without g++, or without
//! TBB (`libtbb-dev`), their rows are left out.

#[path = "../../examples/merge_sort/run.rs"]
mod run;
#[allow(unused_imports, dead_code, reason = "its tests run with the example")]
#[path = "../../examples/merge_sort/slice_merge.rs"]
mod slice_merge;
#[path = "../../examples/merge_sort/sort.rs"]
mod sort;

use furcate::AnyPlan;
use furcate_benches::{Choice, Timed, interleave_timed, mix, paper, quick, rounds};
use sort::{MergeBy, MergeSort};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A sort.
type Sort = Box<dyn Fn(&mut [u32])>;

fn hash(v: &[u32]) -> u64 {
    v.iter().fold(0, |hash, x| (hash ^ u64::from(*x)).wrapping_mul(0x100_0000_01B3))
}

fn main() {
    let n: usize = match quick() {
        true => 10_000,
        false if paper() => 100_000_000,
        false => 10_000_000,
    };
    let threads = furcate::current_num_threads();
    let original: Vec<u32> = (0..n).map(|i| mix(i) as u32).collect();
    let mut choice = Choice::from_args();
    let mut rows: Vec<Timed<'_, u64>> = Vec::new();
    let mut add = |name: &'static str, sort: Sort| {
        if name == "std" || choice.has(name) {
            let original = &original;
            let run = move || {
                let mut v = original.clone();
                let start = Instant::now();
                sort(&mut v);
                (start.elapsed(), hash(&v))
            };
            rows.push((name, Box::new(run)));
        }
    };
    add("std", Box::new(|v| v.sort()));
    add("rayon", Box::new(rayon::slice::ParallelSliceMut::par_sort));
    add("par_sort", Box::new(furcate::slice::ParallelSliceMut::par_sort));
    // A few parts for each thread: every level is a pass over all the data.
    let depth = (4 * threads).ilog2();
    let plan = |text: String| text.parse::<AnyPlan>().expect("it names a plan");
    let policies = [
        ("bound_depth", format!("bound_depth({depth})")),
        ("join_context", format!("join_context_policy({depth})")),
        ("thief_splitting", format!("thief_splitting({})", depth.max(2) - 1)),
    ];
    let by = |sorts: &str, merges: &str, merge_by| {
        let sort = MergeSort { sort_level: plan(sorts.into()), merge_level: plan(merges.into()), merge_by };
        Box::new(move |v: &mut [u32]| sort.sort_by(v, u32::cmp)) as Sort
    };
    for (name, sorts) in &policies {
        for (other, merges) in &policies {
            add(
                format!("{name} / {other}").leak(),
                by(&format!("{sorts}.join()"), merges, MergeBy::Iterators),
            );
        }
    }
    let best = format!("join_context_policy({depth}).depjoin()");
    add("iterator sort", by(&best, "adaptive()", MergeBy::Iterators));
    add("slice sort", by(&best, "adaptive()", MergeBy::Slices));
    for (name, kind) in [("C++ PSTL", "pstl"), ("C++ GNU parallel", "gnu")] {
        let Some(program) = compiled(kind).filter(|_| choice.has(name)) else { continue };
        let run = move || {
            let mut command = Command::new(&program);
            let output = command.args([kind, &n.to_string(), &threads.to_string()]).output();
            let output = output.expect("the program can be started").stdout;
            let text = String::from_utf8_lossy(&output);
            let numbers: Vec<u64> =
                text.split_whitespace().map(|number| number.parse().expect("it prints numbers")).collect();
            (Duration::from_nanos(numbers[0]), numbers[1])
        };
        rows.push((name, Box::new(run)));
    }
    choice.finish();

    let rounds = rounds(if quick() { 1 } else { 5 });
    let title = format!("merge sort of {n} u32");
    let medians = interleave_timed(&title, rounds, &mut rows);
    println!("{title}, medians of {rounds} interleaved rounds, {threads} threads");
    println!("{:<34} {:>10} {:>8}", "", "ms", "std/it");
    for (name, median) in &medians.rows {
        let over = medians.rows[0].1.as_secs_f64() / median.as_secs_f64();
        println!("{name:<34} {:>10.2} {over:>8.2}", median.as_secs_f64() * 1e3);
    }
}

/// Compiles the program of C++'s sorts. Returns `None`, and says so, if that is not possible.
fn compiled(kind: &str) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/stable_sort.cpp");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stable_sort-{kind}"));
    let mut command = Command::new("g++");
    command.args(["-std=c++17", "-O2", "-fopenmp", "-march=native", "-o"]).arg(&program).arg(&source);
    if kind == "pstl" {
        command.args(["-DWITH_TBB", "-ltbb"]);
    }
    let done = command.output().is_ok_and(|output| output.status.success());
    if !done {
        println!("{kind} of C++ is left out: g++ cannot compile {} (libtbb-dev has TBB)", source.display());
    }
    done.then_some(program)
}
