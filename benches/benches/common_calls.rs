//! The common calls of rayon's, under furcate and rayon, for 10 to a million elements.
//!
//! `cargo bench -p furcate-benches --bench common_calls -- [NAME...]`; `ROUNDS=n` for more or fewer rounds. A name chooses the calls whose
//! name contains it.
//!
//! The same source is compiled with both preludes. In each round, both libraries make the same number of calls, one library after the other,
//! and each is first in every second round. The ratio is the median over the rounds of the ratio of the round's medians.

use furcate_benches::record::record;
use furcate_benches::{rounds, times, wait_for_sleep};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The input of the calls, of one size.
struct Data {
    numbers: Vec<u64>,
    more: Vec<u64>,
    floats: Vec<f64>,
    words: Vec<String>,
    text: String,
}

impl Data {
    fn new(n: usize) -> Self {
        let mut state = 7_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        let numbers: Vec<u64> = (0..n).map(|_| random()).collect();
        let words: Vec<String> = numbers.iter().map(|x| format!("w{}", x % 100_000)).collect();
        let lines = words.chunks(8).map(|words| words.join(" "));
        Data {
            more: (0..n).map(|_| random()).collect(),
            floats: numbers.iter().map(|&x| x as f64 / 3.0).collect(),
            text: lines.collect::<Vec<_>>().join("\n"),
            words,
            numbers,
        }
    }
}

/// Times what a call does, without what it prepares.
#[derive(Default)]
struct Timer(Duration);

impl Timer {
    fn time<T>(&mut self, call: impl FnOnce() -> T) {
        let begin = Instant::now();
        let result = call();
        self.0 = begin.elapsed();
        black_box(result);
    }
}

type Call = (&'static str, fn(&Data, &mut Timer));

macro_rules! calls {
    ($library:ident) => {
        mod $library {
            use super::Call;
            use std::collections::{BTreeMap, HashMap, HashSet};
            use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
            use $library::prelude::*;

            fn hash(x: u64) -> u64 {
                (x ^ (x >> 15)).wrapping_mul(0x2545_f491_4f6c_dd1d)
            }

            fn fib(n: u64) -> u64 {
                if n < 2 {
                    return n;
                }
                let (a, b) = $library::join(|| fib(n - 1), || fib(n - 2));
                a + b
            }

            pub(super) const CALLS: &[Call] = &[
                ("sum", |d, t| t.time(|| d.numbers.par_iter().sum::<u64>())),
                ("map sum", |d, t| t.time(|| d.numbers.par_iter().map(|&x| hash(x) >> 40).sum::<u64>())),
                ("map sum of floats", |d, t| t.time(|| d.floats.par_iter().map(|x| x.sqrt()).sum::<f64>())),
                ("range map sum", |d, t| {
                    t.time(|| {
                        (0..d.numbers.len() as u64).into_par_iter().map(|x| hash(x) >> 40).sum::<u64>()
                    });
                }),
                ("map collect", |d, t| t.time(|| d.numbers.par_iter().map(|&x| hash(x)).collect::<Vec<_>>())),
                ("collect into vec", |d, t| {
                    let mut target = Vec::new();
                    t.time(|| d.numbers.par_iter().map(|&x| hash(x)).collect_into_vec(&mut target));
                }),
                ("filter collect", |d, t| {
                    t.time(|| d.numbers.par_iter().copied().filter(|x| x % 3 == 0).collect::<Vec<_>>());
                }),
                ("filter map collect", |d, t| {
                    t.time(|| {
                        d.numbers
                            .par_iter()
                            .filter_map(|&x| (x % 3 == 0).then(|| hash(x)))
                            .collect::<Vec<_>>()
                    });
                }),
                ("filter count", |d, t| {
                    t.time(|| d.numbers.par_iter().filter(|&&x| hash(x) % 3 == 0).count())
                }),
                ("flat map collect", |d, t| {
                    t.time(|| d.numbers.par_iter().flat_map(|&x| [x, x + 1, x + 2]).collect::<Vec<_>>());
                }),
                ("flat map iter collect", |d, t| {
                    t.time(|| d.numbers.par_iter().flat_map_iter(|&x| x..x + x % 4).collect::<Vec<_>>());
                }),
                ("partition", |d, t| {
                    t.time(|| {
                        d.numbers.par_iter().copied().partition::<Vec<u64>, Vec<u64>, _>(|x| x % 2 == 0)
                    });
                }),
                ("unzip", |d, t| {
                    t.time(|| {
                        d.numbers.par_iter().map(|&x| (x, hash(x))).unzip::<_, _, Vec<u64>, Vec<u64>>()
                    });
                }),
                ("zip sum", |d, t| {
                    t.time(|| {
                        d.numbers.par_iter().zip(&d.more).map(|(x, y)| x.wrapping_mul(*y) >> 40).sum::<u64>()
                    });
                }),
                ("zip floats into a slice", |d, t| {
                    let mut target = d.floats.clone();
                    t.time(|| target.par_iter_mut().zip(&d.floats).for_each(|(x, y)| *x += 2.0 * y));
                }),
                ("enumerate for each", |d, t| {
                    let mut target = d.numbers.clone();
                    t.time(|| target.par_iter_mut().enumerate().for_each(|(i, x)| *x ^= i as u64));
                }),
                ("chunks sum", |d, t| {
                    t.time(|| d.numbers.par_chunks(64).map(|chunk| chunk.iter().sum::<u64>()).max());
                }),
                ("chunks mut", |d, t| {
                    let mut target = d.numbers.clone();
                    t.time(|| target.par_chunks_mut(100).for_each(|chunk| chunk.reverse()));
                }),
                ("windows", |d, t| {
                    t.time(|| d.numbers.par_windows(2).filter(|pair| pair[0] < pair[1]).count())
                }),
                ("min", |d, t| t.time(|| d.numbers.par_iter().min().copied())),
                ("max by key", |d, t| t.time(|| d.numbers.par_iter().max_by_key(|&&x| hash(x)).copied())),
                ("min of floats", |d, t| {
                    t.time(|| d.floats.par_iter().copied().min_by(|x, y| x.total_cmp(y)));
                }),
                ("any, near the end", |d, t| {
                    let last = d.numbers[d.numbers.len() * 9 / 10];
                    t.time(|| d.numbers.par_iter().any(|&x| x == last));
                }),
                ("all", |d, t| t.time(|| d.numbers.par_iter().all(|&x| hash(x) != 1))),
                ("find any, common", |d, t| {
                    t.time(|| d.numbers.par_iter().find_any(|&&x| x % 10 == 0).copied())
                }),
                ("find first, middle", |d, t| {
                    let middle = d.numbers[d.numbers.len() / 2];
                    t.time(|| d.numbers.par_iter().find_first(|&&x| x == middle).copied());
                }),
                ("position any", |d, t| {
                    let at = d.numbers[d.numbers.len() / 3];
                    t.time(|| d.numbers.par_iter().position_any(|&x| x == at));
                }),
                ("fold reduce, histogram", |d, t| {
                    let count = |mut counts: [u32; 16], &x: &u64| {
                        counts[(x % 16) as usize] += 1;
                        counts
                    };
                    let add = |a: [u32; 16], b: [u32; 16]| std::array::from_fn(|i| a[i] + b[i]);
                    t.time(|| d.numbers.par_iter().fold(|| [0; 16], count).reduce(|| [0; 16], add));
                }),
                ("fold of vectors", |d, t| {
                    let push = |mut v: Vec<u64>, &x: &u64| {
                        if x % 5 == 0 {
                            v.push(x);
                        }
                        v
                    };
                    let append = |mut a: Vec<u64>, mut b: Vec<u64>| {
                        a.append(&mut b);
                        a
                    };
                    t.time(|| d.numbers.par_iter().fold(Vec::new, push).reduce(Vec::new, append));
                }),
                ("reduce", |d, t| t.time(|| d.numbers.par_iter().copied().reduce(|| 0, |a, b| a.max(b) ^ 1))),
                ("try for each", |d, t| {
                    t.time(|| {
                        d.numbers.par_iter().try_for_each(|&x| if hash(x) == 1 { Err(x) } else { Ok(()) })
                    });
                }),
                ("try collect", |d, t| {
                    let checked = |&x: &u64| if x == u64::MAX { Err(x) } else { Ok(x) };
                    t.time(|| d.numbers.par_iter().map(checked).collect::<Result<Vec<_>, _>>());
                }),
                ("for each, atomic", |d, t| {
                    let sum = AtomicU64::new(0);
                    t.time(|| {
                        d.numbers.par_chunks(256).for_each(|c| {
                            sum.fetch_add(c.iter().sum::<u64>(), Relaxed);
                        });
                    });
                }),
                ("hash map collect", |d, t| {
                    t.time(|| d.numbers.par_iter().map(|&x| (x, hash(x))).collect::<HashMap<_, _>>());
                }),
                ("hash set of words", |d, t| {
                    t.time(|| d.words.par_iter().map(String::as_str).collect::<HashSet<_>>());
                }),
                ("btree map collect", |d, t| {
                    t.time(|| d.numbers.par_iter().map(|&x| (x % 1000, x)).collect::<BTreeMap<_, _>>());
                }),
                ("iterate a hash map", |d, t| {
                    let map: HashMap<u64, u64> = d.numbers.iter().map(|&x| (x, x)).collect();
                    t.time(|| map.par_iter().map(|(x, y)| x ^ y).max());
                }),
                ("bridge", |d, t| {
                    t.time(|| d.numbers.iter().par_bridge().map(|&x| hash(x) >> 40).sum::<u64>())
                }),
                ("lines", |d, t| t.time(|| d.text.par_lines().map(str::len).sum::<usize>())),
                ("words", |d, t| {
                    t.time(|| d.text.par_split_whitespace().filter(|word| word.len() > 4).count())
                }),
                ("characters", |d, t| t.time(|| d.text.par_chars().filter(|c| c.is_ascii_digit()).count())),
                ("split by a character", |d, t| t.time(|| d.text.par_split('1').map(str::len).max())),
                ("strings to lengths", |d, t| {
                    t.time(|| d.words.par_iter().map(String::len).collect::<Vec<_>>());
                }),
                ("vector of strings by value", |d, t| {
                    let words = d.words.clone();
                    t.time(|| words.into_par_iter().map(|word| word.len()).sum::<usize>());
                }),
                ("string collect", |d, t| {
                    t.time(|| d.words.par_iter().map(String::as_str).collect::<String>());
                }),
                ("sort", |d, t| {
                    let mut v = d.numbers.clone();
                    t.time(|| v.par_sort());
                }),
                ("sort unstable", |d, t| {
                    let mut v = d.numbers.clone();
                    t.time(|| v.par_sort_unstable());
                }),
                ("sort by key", |d, t| {
                    let mut v = d.numbers.clone();
                    t.time(|| v.par_sort_by_key(|&x| hash(x)));
                }),
                ("sort words", |d, t| {
                    let mut v = d.words.clone();
                    t.time(|| v.par_sort());
                }),
                ("rev collect", |d, t| t.time(|| d.numbers.par_iter().rev().copied().collect::<Vec<_>>())),
                ("chain sum", |d, t| {
                    t.time(|| d.numbers.par_iter().chain(&d.more).map(|x| x >> 20).sum::<u64>())
                }),
                ("skip, take, step by", |d, t| {
                    let n = d.numbers.len();
                    t.time(|| {
                        d.numbers.par_iter().skip(n / 10).take(n / 2).step_by(3).map(|x| x >> 20).sum::<u64>()
                    });
                }),
                ("extend", |d, t| {
                    let mut v = d.more.clone();
                    t.time(|| v.par_extend(d.numbers.par_iter().map(|&x| hash(x))));
                }),
                ("nested ranges", |d, t| {
                    let n = d.numbers.len().isqrt();
                    let inner =
                        move |x: usize| (0..n).into_par_iter().filter(move |y| (x * y) % 7 == 1).count();
                    t.time(|| (0..n).into_par_iter().map(inner).sum::<usize>());
                }),
                ("joins", |d, t| t.time(|| fib(u64::from(d.numbers.len().ilog2())))),
                ("scope", |d, t| {
                    let jobs = d.numbers.len().min(10_000);
                    t.time(|| {
                        $library::scope(|scope| (0..jobs).for_each(|_| scope.spawn(|_| ())));
                    });
                }),
            ];
        }
    };
}

calls!(furcate);
calls!(rayon);

/// The median of the call's times.
fn median_of(calls: usize, call: fn(&Data, &mut Timer), data: &Data) -> Duration {
    let times = (0..calls).map(|_| {
        let mut timer = Timer::default();
        call(data, &mut timer);
        timer.0
    });
    let mut times: Vec<_> = times.collect();
    times.sort();
    times[times.len() / 2]
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let rounds = rounds(9);
    let names: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    let sizes = [(10_usize, 200_usize), (100, 200), (10_000, 20), (1_000_000, 10)];
    let data = sizes.map(|(n, _)| Data::new(n));
    println!(
        "furcate's time : rayon's, medians of {rounds} rounds (in parentheses: furcate's, in microseconds)\n"
    );
    println!("| call | {} |", sizes.map(|(n, _)| n.to_string()).join(" | "));
    println!("|---|---|---|---|---|");
    let mut ratios = [const { Vec::new() }; 4];
    for (&(name, ours), &(_, theirs)) in furcate::CALLS.iter().zip(rayon::CALLS) {
        if !names.is_empty() && !names.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        print!("| {name} |");
        for (((n, calls), data), ratios) in sizes.iter().zip(&data).zip(&mut ratios) {
            // The first calls start threads, and fill caches.
            for call in [ours, theirs] {
                median_of(calls.div_ceil(4), call, data);
            }
            let times = times(rounds, 2, |library| {
                wait_for_sleep();
                median_of(*calls, [ours, theirs][library], data)
            });
            record(&format!("{name}, {n} elements"), ["furcate", "rayon"].into_iter().zip(times.clone()));
            let [ours, theirs] = [&times[0], &times[1]].map(|times| times.iter().map(Duration::as_secs_f64));
            let ratio = middle(ours.clone().zip(theirs).map(|(ours, theirs)| ours / theirs).collect());
            ratios.push((ratio, name, *n));
            print!(" {ratio:.2} ({:.1}) |", 1e6 * middle(ours.collect()));
        }
        println!();
    }
    println!();
    for (ratios, (n, _)) in ratios.iter().zip(sizes) {
        let limit = if n >= 1_000_000 { 1.05 } else { 1.0 };
        let above: Vec<_> = ratios.iter().filter(|(ratio, ..)| *ratio > limit).collect();
        let above: Vec<_> = above.iter().map(|(ratio, name, _)| format!("{name} {ratio:.2}")).collect();
        let median = middle(ratios.iter().map(|(ratio, ..)| *ratio).collect());
        println!("{n} elements: median {median:.2}; above {limit}: {}", above.join(", "));
    }
}
