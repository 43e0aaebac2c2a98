use furcate::prelude::*;
use std::hint::black_box;
use std::time::Instant;
fn time<R>(f: impl Fn() -> R) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..9 {
        let t = Instant::now();
        black_box(f());
        best = best.min(t.elapsed().as_secs_f64());
    }
    best
}
fn main() {
    let t = Instant::now();
    for _ in 0..1000000 {
        black_box(Instant::now());
    }
    println!("clock {:?} ns", t.elapsed().as_nanos() as f64 / 1e6);
    for n in [100usize, 1000, 10_000, 100_000, 10_000_000, 50_000_000] {
        let v: Vec<u32> = (0..n as u32).collect();
        let reps = (5_000_000 / n).max(1);
        let a = time(|| {
            for _ in 0..reps {
                black_box(black_box(&v).iter().find(|x| **x == u32::MAX));
            }
        });
        let b = time(|| {
            for _ in 0..reps {
                black_box(black_box(&v).par_iter().sequential().find_any(|x| **x == u32::MAX));
            }
        });
        println!(
            "{n}: loop {:.1} ns, furcate {:.1} ns per call, {:.4} {:.4} ns/item",
            a * 1e9 / reps as f64,
            b * 1e9 / reps as f64,
            a * 1e9 / reps as f64 / n as f64,
            b * 1e9 / reps as f64 / n as f64
        );
    }
}
