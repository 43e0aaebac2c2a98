//! Tasks that fork: the cost of futures that are ready at once, and policies of suspension.

use super::{Tables, millis};
use furcate_benches::latency::{
    Blocking, FORMS, ForkedWaits, Overhead, POLICIES, PolicyRun, Tokio, WaitForm,
};
use furcate_benches::plot::{Plot, Scale};
use furcate_benches::{Contender, interleave, quick, threads};
use std::time::Duration;

const RAYON: &str = "rayon, join";
const TOKIO: &str = "tokio, a task per fork";

impl Tables {
    /// Measures the cost of futures that are ready at once.
    pub(super) fn overheads(&mut self) {
        for cutoff in [15, 20, 25] {
            let n = if quick() { cutoff + 3 } else { 32 };
            let program = Overhead { n, cutoff };
            let all = threads().map_or_else(|| vec![1, self.threads], |threads| vec![threads]);
            for threads in all {
                let title = format!("overhead: fib({n}) forked to {cutoff}, {threads} thread(s)");
                if !self.choice.has(&title) {
                    continue;
                }
                println!("\n{title}: {} leaves", program.leaves());
                println!(
                    "  {:<28} {:>10} {:>10} {:>10} {:>13}",
                    "", "ms", "it/without", "ns a leaf", "Cilk-L"
                );
                let pool = furcate::ThreadPoolBuilder::new().num_threads(threads).build();
                let pool = pool.expect("threads can be started");
                let (tokio, rayon) = (Tokio::new(threads), Blocking::new(threads, 1));
                let mut contenders: Vec<Contender<'_, u64>> = Vec::new();
                for form in FORMS {
                    contenders.push((form.name, Box::new(|| form.run(program, &pool))));
                }
                contenders.push((RAYON, Box::new(|| program.by_rayon(&rayon))));
                contenders.push((TOKIO, Box::new(|| program.by_tokio(&tokio))));
                let medians = interleave(&title, 4 * self.rounds + 1, &mut contenders);
                for (row, &(name, median)) in medians.rows.iter().enumerate() {
                    // A task per fork has no counterpart of tokio's own.
                    let without = FORMS.get(row).map_or(RAYON, |form| form.without);
                    let (_, without) = medians.rows.iter().find(|row| row.0 == without).expect("it is there");
                    let ratio = median.as_secs_f64() / without.as_secs_f64();
                    if median != *without {
                        let plot = self.plot(format!("overhead-{threads}-threads"), || {
                            let title = format!("fib({n}) forked to a cutoff, {threads} thread(s)");
                            let y = ("with ready futures / without", Scale::Linear);
                            Plot::new(title, ("cutoff", Scale::Linear), y)
                        });
                        plot.add(name, f64::from(cutoff), ratio);
                    }
                    println!(
                        "  {name:<28} {:>10.3} {ratio:>10.3} {:>10.0} {:>13}",
                        median.as_secs_f64() * 1e3,
                        (median.as_secs_f64() - without.as_secs_f64()) * 1e9 / program.leaves() as f64,
                        FORMS.get(row).map_or("", |form| form.paper),
                    );
                }
            }
        }
    }

    /// Policies of suspension, also with more threads than there are processors.
    pub(super) fn policies(&mut self) {
        let forms = [(WaitForm::Tasks, "tasks"), (WaitForm::Chain, "chains")];
        for (form, threads, name) in
            forms.into_iter().flat_map(|(form, name)| [1, 2, 4, 8].map(|threads| (form, threads, name)))
        {
            let title = format!("policy: {name} that fork, wait and fork, {threads} threads");
            if !self.choice.has(&title) {
                continue;
            }
            let sizes: &[u64] = match form {
                _ if quick() => &[2, 8, 32],
                WaitForm::Tasks => &[8, 64, 512],
                WaitForm::Chain => &[100, 1000, 10_000, 100_000],
            };
            println!("\n{title}");
            println!(
                "  {:>6} {:>4} {:<15} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
                "items",
                "ms",
                "",
                "time, ms",
                "it/ideal",
                "attempts",
                "stolen",
                "suspended",
                "deques",
                "mugs",
                "elsewhere"
            );
            let pools = POLICIES.map(|policy| policy.pool(threads));
            for &n in sizes {
                for latency in [0, 1, 10, 50].into_iter().filter(|latency| !quick() || *latency < 10) {
                    let program = ForkedWaits { form, n, latency: millis(latency) };
                    let (expected, t1) = program.serial();
                    let ideal = millis(latency) + t1 / threads.min(self.threads) as u32;
                    let mut runs: [Vec<PolicyRun>; POLICIES.len()] = Default::default();
                    for round in 0..=2 * self.rounds {
                        for turn in 0..POLICIES.len() {
                            let i = (turn + round) % POLICIES.len();
                            let run = program.run(&pools[i]);
                            assert_eq!(run.sum, expected, "{} has another result", POLICIES[i].name);
                            runs[i].push(run);
                        }
                    }
                    for (policy, runs) in POLICIES.iter().zip(&mut runs) {
                        runs.sort_by_key(|run| run.time);
                        let PolicyRun { time, stats, .. } = &runs[runs.len() / 2];
                        println!(
                            "  {n:>6} {latency:>4} {:<15} {:>10.2} {:>9.2} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
                            policy.name,
                            time.as_secs_f64() * 1e3,
                            time.as_secs_f64() / ideal.as_secs_f64(),
                            stats.attempts,
                            stats.stolen,
                            stats.suspensions,
                            stats.deques,
                            stats.mugs,
                            stats.elsewhere,
                        );
                    }
                }
                let (program, p) = (ForkedWaits { form, n, latency: Duration::ZERO }, threads as f64);
                let (work, span) = (program.work() as f64, program.span() as f64);
                println!(
                    "  {n:>6}      {:<15} attempts O(T1 + P lg P Tinf) = O({:.0}), deviations O((P lg P + n) Tinf) = O({:.0})",
                    "bounds",
                    work + p * p.log2() * span,
                    (p * p.log2() + n as f64) * span,
                );
            }
        }
    }
}
