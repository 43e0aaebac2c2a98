//! All figures and tables, in the order of the papers.

use super::{Figure, Source, Value, X};

/// Rows of the searches (Kvik, Section 4.1).
const SEARCHES: &[&str] =
    &["thief_splitting", "thief_splitting by_blocks", "adaptive", "adaptive by_blocks", "default", "rayon"];

const fn search(
    place: &'static str,
    shows: &'static str,
    words: &'static [&'static str],
    hit: &'static str,
) -> Figure {
    Figure {
        paper: "kvik",
        place,
        shows,
        source: Source::Bench {
            bench: "searches",
            words,
            x: X::Threads(hit),
            value: Value::Speedup("serial"),
            rows: SEARCHES,
        },
        published: &[],
        differs: "The paper states no points. Random places are 20 even ones here, so that all rows search for the same. The paper leaves rayon \
                  out of Figures 3 and 4, because it is slower than the loop.",
    }
}

const fn sort(
    place: &'static str,
    shows: &'static str,
    rows: &'static [&'static str],
    published: Lines,
) -> Figure {
    Figure {
        paper: "kvik",
        place,
        shows,
        source: Source::Bench {
            bench: "merge_sorts",
            words: &[],
            x: X::Threads("merge sort"),
            value: Value::Speedup("std"),
            rows,
        },
        published,
        differs: "10^7 numbers by default, and the paper's 10^8 with `--full`. The speedup is over today's stable sort of std, which is faster \
                  than that of 2020. `bound_depth` and `join_context_policy` are given the depth of 4 P parts, as a user would, and not the best of all.",
    }
}

type Lines = &'static [(&'static str, &'static [(f64, f64)])];

const fn lace(
    place: &'static str,
    shows: &'static str,
    words: &'static [&'static str],
    value: Value,
    published: Lines,
) -> Figure {
    Figure {
        paper: "lace",
        place,
        shows,
        source: Source::Bench {
            bench: "fork_join",
            words,
            x: X::Threads(""),
            value,
            rows: &["furcate", "furcate-handle", "rayon", "chili", "chase-lev", "serial"],
        },
        published,
        differs: "`--full` takes the paper's sizes (fib 45, queens 14, matmul 2048, T2L, T3L); otherwise smaller ones, whose ratios are alike. \
                  C Lace is in no package, so its published values stand for it. Matrices are stored by quadrants here, which needs no \
                  `unsafe`; Lace's program stores rows.",
    }
}

const fn map_reduce(place: &'static str, word: &'static [&'static str], published: Lines) -> Figure {
    Figure {
        paper: "prows",
        place,
        shows: "MapReduceFib: speedup over one thread that blocks",
        source: Source::Bench {
            bench: "latency",
            words: word,
            x: X::Threads("coarse"),
            value: Value::Speedup("one thread that blocks, computed"),
            rows: MAP_REDUCE,
        },
        published,
        differs: "The time of one thread that blocks is computed: T1 + n waits. `--full` takes the paper's n = 5000, otherwise n = 500. \
                  The published speedups are the greatest, on up to 72 hardware threads; they stand at the 36 cores. Ideal is \
                  `threads that do not wait`.",
    }
}

const MAP_REDUCE: &[&str] = &[
    "furcate",
    "furcate, tokio's timers",
    "rayon, P threads, sleep",
    "rayon, 2P threads, sleep",
    "tokio",
    "threads that do not wait",
];

const fn sweep(place: &'static str, words: &'static [&'static str]) -> Figure {
    Figure {
        paper: "prows",
        place,
        shows: "parameter sweep: speedup over rayon, whose threads sleep",
        source: Source::Bench {
            bench: "latency",
            words,
            x: X::Tables(
                "share of leaves that wait",
                &[
                    (0.0, "sweep: 0 of"),
                    (0.25, "sweep: 0.25 of"),
                    (0.5, "sweep: 0.5 of"),
                    (0.75, "sweep: 0.75 of"),
                    (1.0, "sweep: 1 of"),
                ],
            ),
            value: Value::Speedup("rayon, P threads, sleep"),
            rows: &[
                "furcate",
                "furcate, join + block_on",
                "tokio",
                "async-executor",
                "rayon, 8P threads, sleep",
            ],
        },
        published: &[],
        differs: "The paper's plot has three dimensions and no stated points. Its computing leaves sleep; ours compute for the same time, so \
                  that oversubscribed threads gain nothing from them. `--full` forks fib(14) at each latency, otherwise as many leaves \
                  as compute for 0.6 s.",
    }
}

const fn cilk(
    place: &'static str,
    shows: &'static str,
    words: &'static [&'static str],
    kind: &'static str,
    published: Lines,
) -> Figure {
    Figure {
        paper: "cilk",
        place,
        shows,
        source: Source::Bench {
            bench: "latency",
            words,
            x: X::Threads(kind),
            value: Value::Overhead("threads that do not wait"),
            rows: &[
                "furcate",
                "furcate, tokio's timers",
                "tokio",
                "rayon, P threads, sleep",
                "rayon, 2P threads, sleep",
            ],
        },
        published,
        differs: "n = 5000 with `--full`, otherwise 500 (coarse) and 60 (fine), so that one latency is a greater part of the time. Ideal is bare \
                  threads that do not wait and do not fork; the paper's forks. ParWS is a dialect of ML that is in no package.",
    }
}

const fn cluster(
    place: &'static str,
    shows: &'static str,
    arguments: &'static [&'static str],
    differs: &'static str,
) -> Figure {
    Figure { paper: "distributed", place, shows, source: Source::Program(arguments), published: &[], differs }
}

/// All figures.
pub const FIGURES: &[Figure] = &[
    search("Figure 3", "find_first, the hit anywhere", &["find_first, cheap"], "20 places"),
    search("Figure 4", "find_first, the hit at n/2 - 1", &["find_first, cheap"], "n/2 - 1"),
    search("Figure 5", "all, the hit anywhere", &["all, cheap"], "20 places"),
    sort(
        "Figure 6",
        "policies at both levels of the sort by iterators",
        &[
            "bound_depth / bound_depth",
            "bound_depth / join_context",
            "bound_depth / thief_splitting",
            "join_context / bound_depth",
            "join_context / join_context",
            "join_context / thief_splitting",
            "thief_splitting / bound_depth",
            "thief_splitting / join_context",
            "thief_splitting / thief_splitting",
        ],
        &[],
    ),
    sort(
        "Figure 7",
        "stable sorts across languages",
        &["slice sort", "iterator sort", "par_sort", "rayon", "C++ PSTL", "C++ GNU parallel"],
        &[("slice sort, at most", &[(64.0, 26.0)])],
    ),
    Figure {
        paper: "kvik",
        place: "Figure 8",
        shows: "fannkuch-redux",
        source: Source::Bench {
            bench: "fannkuch",
            words: &[],
            x: X::Threads("fannkuch"),
            value: Value::Speedup("one loop"),
            rows: &["adaptive", "thief_splitting(4)", "default", "rayon, static"],
        },
        published: &[],
        differs: "The paper states no points. 11 cards by default, the paper's 13 with `--full`. The C++ program of the benchmarks game is not \
                  ours to copy, so it has no row.",
    },
    lace(
        "Table fib",
        "fib(45): TS / TP",
        &["fib"],
        Value::Speedup("plain"),
        &[
            ("safe Rust", &[(1.0, 0.089), (48.0, 1.59)]),
            ("unsafe Rust", &[(1.0, 0.337), (48.0, 6.3)]),
            ("C Lace", &[(1.0, 0.495), (48.0, 8.65)]),
            ("Rayon", &[(1.0, 0.058), (48.0, 1.66)]),
            ("Chase-Lev", &[(1.0, 0.058), (48.0, 1.72)]),
        ],
    ),
    lace(
        "Table matmul",
        "matmul(2048): TS / TP",
        &["matmul"],
        Value::Speedup("plain"),
        &[
            ("safe Rust", &[(1.0, 0.994), (48.0, 13.14)]),
            ("unsafe Rust", &[(1.0, 0.996), (48.0, 12.63)]),
            ("C Lace", &[(1.0, 0.984), (48.0, 11.88)]),
            ("Rayon", &[(1.0, 0.989), (48.0, 10.03)]),
            ("Chase-Lev", &[(1.0, 0.989), (48.0, 10.85)]),
        ],
    ),
    lace(
        "Table queens",
        "queens(14): TS / TP",
        &["queens"],
        Value::Speedup("plain"),
        &[
            ("safe Rust", &[(1.0, 0.952), (48.0, 17.69)]),
            ("unsafe Rust", &[(1.0, 0.980), (48.0, 18.21)]),
            ("C Lace", &[(1.0, 1.013), (48.0, 18.96)]),
            ("Rayon", &[(1.0, 0.582), (48.0, 10.76)]),
            ("Chase-Lev", &[(1.0, 0.949), (48.0, 17.26)]),
        ],
    ),
    lace(
        "Table uts-t2l",
        "UTS, a geometric tree: TS / TP",
        &["uts-t1", "uts-t2"],
        Value::Speedup("plain"),
        &[
            ("safe Rust", &[(1.0, 0.857), (48.0, 19.37)]),
            ("unsafe Rust", &[(1.0, 0.895), (48.0, 20.98)]),
            ("C Lace", &[(1.0, 0.973), (48.0, 22.58)]),
            ("Rayon", &[(1.0, 0.836), (48.0, 17.99)]),
            ("Chase-Lev", &[(1.0, 0.800), (48.0, 19.86)]),
        ],
    ),
    lace(
        "Table uts-t3l",
        "UTS, a binomial tree: TS / TP",
        &["uts-t3"],
        Value::Speedup("plain"),
        &[
            ("safe Rust", &[(1.0, 0.843), (48.0, 14.95)]),
            ("unsafe Rust", &[(1.0, 0.943), (48.0, 17.79)]),
            ("C Lace", &[(1.0, 1.015), (48.0, 18.81)]),
            ("Rayon", &[(1.0, 0.802), (48.0, 12.31)]),
            ("Chase-Lev", &[(1.0, 0.793), (48.0, 14.68)]),
        ],
    ),
    lace(
        "Figure 2",
        "fib: T1 / TP",
        &["fib"],
        Value::Scaling,
        &[
            ("safe Rust", &[(1.0, 1.0), (48.0, 17.94)]),
            ("unsafe Rust", &[(1.0, 1.0), (48.0, 18.7)]),
            ("C Lace", &[(1.0, 1.0), (48.0, 17.41)]),
            ("Rayon", &[(1.0, 1.0), (48.0, 28.73)]),
            ("Chase-Lev", &[(1.0, 1.0), (48.0, 29.85)]),
        ],
    ),
    lace(
        "Figure 3",
        "fib: median time",
        &["fib"],
        Value::Seconds,
        &[
            ("safe Rust, fib(45)", &[(1.0, 35.31), (48.0, 1.97)]),
            ("unsafe Rust, fib(45)", &[(1.0, 9.29), (48.0, 0.5)]),
            ("C Lace, fib(45)", &[(1.0, 4.38), (48.0, 0.25)]),
            ("Rayon, fib(45)", &[(1.0, 52.09), (48.0, 1.81)]),
            ("Chase-Lev, fib(45)", &[(1.0, 54.04), (48.0, 1.81)]),
        ],
    ),
    lace(
        "Figure 4",
        "UTS, a binomial tree (uts-t3l): T1 / TP",
        &["uts-t3"],
        Value::Scaling,
        &[
            ("safe Rust", &[(1.0, 1.0), (48.0, 17.75)]),
            ("unsafe Rust", &[(1.0, 1.0), (48.0, 18.86)]),
            ("C Lace", &[(1.0, 1.0), (48.0, 18.54)]),
            ("Rayon", &[(1.0, 1.0), (48.0, 15.34)]),
            ("Chase-Lev", &[(1.0, 1.0), (48.0, 18.5)]),
        ],
    ),
    // The published values of Figures 5 and 6 are computed from the paper's tables.
    lace(
        "Figure 5",
        "mean T1 / TP of all programs",
        &["fib", "matmul", "queens", "uts"],
        Value::Scaling,
        &[
            ("safe Rust", &[(1.0, 1.0), (48.0, 18.02)]),
            ("unsafe Rust", &[(1.0, 1.0), (48.0, 18.45)]),
            ("C Lace", &[(1.0, 1.0), (48.0, 17.99)]),
            ("Rayon", &[(1.0, 1.0), (48.0, 18.84)]),
            ("Chase-Lev", &[(1.0, 1.0), (48.0, 20.47)]),
        ],
    ),
    lace(
        "Figure 6",
        "mean time of all programs over that of one library: furcate here, safe Rust in the paper",
        &["fib", "matmul", "queens", "uts"],
        Value::Overhead("furcate"),
        &[
            ("unsafe Rust", &[(1.0, 0.825), (48.0, 0.819)]),
            ("C Lace", &[(1.0, 0.718), (48.0, 0.727)]),
            ("Rayon", &[(1.0, 1.275), (48.0, 1.281)]),
            ("Chase-Lev", &[(1.0, 1.17), (48.0, 1.075)]),
        ],
    ),
    Figure {
        paper: "lace",
        place: "5.2, table of steals",
        shows: "tasks, and the outcomes of steals, under each wait rule; the published rows are in the tables",
        source: Source::Program(&["bench", "-p", "furcate-benches", "--bench", "wait_rules"]),
        published: &[],
        differs: "2 and 8 workers instead of 48. `empty` is divided into `empty` and `private`. Queens and the matrix product fork by halves here, \
                  and with other leaves, so their numbers of tasks differ.",
    },
    Figure {
        paper: "lace",
        place: "5.6, cost of safety",
        shows: "T1/TS of fib on forms of a split deque; the published values are in the table",
        source: Source::Program(&["bench", "-p", "furcate-benches", "--bench", "fork_join", "--", "safety"]),
        published: &[],
        differs: "Our API is safe in all forms, and `unsafe` is inside. So the price is measured on forms of Lace's deque, on one worker.",
    },
    map_reduce("Figure 5.1", &["fib: 1 ms, coarse"], &[]),
    map_reduce(
        "Figure 5.2",
        &["fib: 50 ms, coarse"],
        &[("ProWS-R", &[(36.0, 297.0)]), ("classic", &[(36.0, 35.0)])],
    ),
    map_reduce(
        "Figure 5.3",
        &["fib: 100 ms, coarse"],
        &[("ProWS-R", &[(36.0, 517.0)]), ("classic", &[(36.0, 35.0)])],
    ),
    sweep("Figure 5.4, 1 ms", &["wait for 1 ms"]),
    sweep("Figure 5.4, 10 ms", &["wait for 10 ms"]),
    sweep("Figure 5.4, 50 ms", &["wait for 50 ms"]),
    sweep("Figure 5.4, 150 ms", &["wait for 150 ms"]),
    Figure {
        paper: "prows",
        place: "Figure 5.5",
        shows: "MapReduceFib with n = 200 and no latency: speedup over the serial program",
        source: Source::Bench {
            bench: "latency",
            words: &["fib: 0 ms, coarse"],
            x: X::Threads("coarse"),
            value: Value::Speedup("serial, without waits"),
            rows: &["furcate", "rayon, P threads, sleep", "tokio", "threads that do not wait"],
        },
        published: &[("Rayon-LH and Rayon", &[(1.0, 1.0), (35.0, 36.9)])],
        differs: "Furcate's row has an `io_await` on each item, so it pays for a future, and rayon's has none. The published line is 16.179 s \
                  on one core and 0.438 s on 35.",
    },
    cilk(
        "Figures 2 and 3, 1 ms",
        "map-reduce, fib(30) to 25: time over Ideal's",
        &["fib: 1 ms, coarse"],
        "coarse",
        &[("Cilk-L", &[(1.0, 0.99), (5.0, 0.99), (10.0, 1.0), (20.0, 1.01), (40.0, 1.04)])],
    ),
    cilk(
        "Figures 2 and 3, 50 ms",
        "map-reduce, fib(30) to 25: time over Ideal's",
        &["fib: 50 ms, coarse"],
        "coarse",
        &[("Cilk-L", &[(1.0, 0.99), (5.0, 1.01), (10.0, 1.03), (20.0, 1.09), (40.0, 1.24)])],
    ),
    cilk(
        "Figures 2 and 3, 100 ms",
        "map-reduce, fib(30) to 25: time over Ideal's",
        &["fib: 100 ms, coarse"],
        "coarse",
        &[("Cilk-L", &[(1.0, 0.99), (5.0, 1.02), (10.0, 1.07), (20.0, 1.16), (40.0, 1.30)])],
    ),
    cilk(
        "Figure 3, fine, 1 ms",
        "map-reduce, fib(35) to 15: time over Ideal's",
        &["fib: 1 ms, fine"],
        "fine",
        &[("Cilk-L", &[(1.0, 0.98), (5.0, 0.98), (10.0, 0.98), (20.0, 0.98), (40.0, 0.99)])],
    ),
    cilk(
        "Figure 3, fine, 50 ms",
        "map-reduce, fib(35) to 15: time over Ideal's",
        &["fib: 50 ms, fine"],
        "fine",
        &[("Cilk-L", &[(1.0, 0.98), (5.0, 0.98), (10.0, 0.99), (20.0, 0.99), (40.0, 1.0)])],
    ),
    cilk(
        "Figure 3, fine, 100 ms",
        "map-reduce, fib(35) to 15: time over Ideal's",
        &["fib: 100 ms, fine"],
        "fine",
        &[("Cilk-L", &[(1.0, 0.98), (5.0, 0.99), (10.0, 0.99), (20.0, 1.0), (40.0, 1.01)])],
    ),
    Figure {
        paper: "cilk",
        place: "Figure 4",
        shows: "reads that are ready at once: time over that with plain reads",
        source: Source::Bench {
            bench: "latency",
            words: &["forked to 25"],
            x: X::Threads("forked to 25"),
            value: Value::Overhead("read, sum"),
            rows: &["read + future", "read + epoll", "read + I/O thread", "read by async-io"],
        },
        published: &[
            ("+future", &[(1.0, 0.96), (10.0, 0.96), (20.0, 0.96), (40.0, 0.96)]),
            ("+epoll", &[(1.0, 1.0), (10.0, 1.0), (20.0, 1.0), (40.0, 1.0)]),
            ("+IO Thread", &[(1.0, 0.99), (10.0, 1.0), (20.0, 1.01), (40.0, 1.03)]),
        ],
        differs: "Leaves compute fib(25), a tenth of the paper's fib(30), so that an overhead shows ten times as much. An eventfd stands for the \
                  paper's timer of 1 ns.",
    },
    Figure {
        paper: "distributed",
        place: "RecPFor in shared memory",
        shows: "RecPFor: speedup over the serial program",
        source: Source::Bench {
            bench: "recpfor",
            words: &["recpfor"],
            x: X::Threads("recpfor("),
            value: Value::Speedup("serial"),
            rows: &["join", "depjoin", "adaptive", "rayon"],
        },
        published: &[],
        differs: "The paper's table is of 576 and 1728 cores, with N = 2^22 and leaves of 10 us. `depjoin` is the greedy join, `join` waits; rayon \
                  steals children and runs them on top of the stack that waits.",
    },
    Figure {
        paper: "distributed",
        place: "LCS in shared memory",
        shows: "LCS: speedup over the serial program",
        source: Source::Bench {
            bench: "recpfor",
            words: &["lcs"],
            x: X::Threads("lcs("),
            value: Value::Speedup("serial"),
            rows: &["join", "depjoin", "adaptive", "rayon"],
        },
        published: &[],
        differs: "The paper's program uses futures between tiles; this one forks quadrants. The cluster's example `lcs` has the futures.",
    },
    cluster(
        "Table of RecPFor",
        "RecPFor on all ranks, with the published rows below",
        &[
            "run",
            "--release",
            "-p",
            "furcate-cluster",
            "--example",
            "recpfor",
            "--",
            "--compare",
            "--ranks",
            "{threads}",
        ],
        "A rank for each processor instead of 576 and 1728 cores, and a smaller N than 2^22. Frames move, not stacks, so a stolen task has tens of \
         bytes instead of a thousand; there is no RDMA.",
    ),
    cluster(
        "Table of LCS",
        "LCS on all ranks, with the published rows below",
        &[
            "run",
            "--release",
            "-p",
            "furcate-cluster",
            "--example",
            "lcs",
            "--",
            "--compare",
            "--ranks",
            "{threads}",
        ],
        "2^14 letters instead of 2^18 and 2^22, which the example takes. A frame that waits for a future has not begun, so the stalling join and \
         child stealing do the same here.",
    ),
    cluster(
        "Figures of UTS",
        "efficiency on T1: the paper has 0.964 on 110,592 cores, on a tree that it does not name",
        &[
            "run",
            "--release",
            "-p",
            "furcate-cluster",
            "--example",
            "uts",
            "--",
            "T1",
            "--compare",
            "--ranks",
            "{threads}",
        ],
        "The tree is T1, with 4,130,071 nodes. T1XXL and T1WL are listed in the example, and take hours and days on two cores.",
    ),
];
