//! Memory, of one engine in a process of its own.

use super::{Tables, millis};
use furcate_benches::latency::{
    AsyncExecutor, Buffered, Cpu, Engine, Furcate, FurcateTokio, Gates, Load, Opened, Tokio, cpu_time,
    peak_memory,
};
use furcate_benches::quick;
use std::process::Command;
use std::time::Duration;

/// Environment variable of a child. It names the engine, and which of the two programs to run.
pub(super) const CHILD: &str = "FURCATE_LATENCY_CHILD";

impl Tables {
    pub(super) fn memory(&mut self) {
        let title =
            "memory: a million timers in flight, a million gates, and a million results in a collection";
        if !self.choice.has(title) {
            return;
        }
        println!("\n{title}");
        println!("  {:<28} {:>10} {:>10} {:>10} {:>10}", "", "MiB", "bytes each", "s", "cpu us each");
        for kind in ["timers", "gates", "collect ready", "collect timers"] {
            for engine in memory_engines(self.threads) {
                let name = engine.name();
                drop(engine);
                let mut child = Command::new(std::env::current_exe().expect("this program is a file"));
                child.env(CHILD, format!("{kind}/{name}")).env("THREADS", self.threads.to_string());
                let output = child.output().expect("it can be started once more");
                assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
                println!("  {:<28} {}", format!("{name}, {kind}"), String::from_utf8_lossy(&output.stdout));
            }
        }
    }
}

fn memory_engines(threads: usize) -> Vec<Box<dyn Engine>> {
    vec![
        Box::new(Furcate::new(threads)),
        Box::new(FurcateTokio::new(threads)),
        Box::new(Tokio::new(threads)),
        Box::new(AsyncExecutor::new(threads)),
        Box::new(Buffered::new(threads)),
    ]
}

/// In a child: runs one engine, and prints the peak of memory above the memory at the beginning.
pub(super) fn tell_memory(threads: usize, which: &str) {
    let n = if quick() { 2_000 } else { 1_000_000 };
    let (kind, name) = which.split_once('/').expect("kind and engine");
    let engines = memory_engines(threads);
    let engine = engines.iter().find(|engine| engine.name() == name).expect("the engine is there");
    // All timers are to be in flight at once, so the latency is longer than it takes to begin them.
    let latency = millis(if quick() { 50 } else { 4_000 });
    let load = Load { n, awaits: 1, latency, cap: usize::MAX, cpu: Cpu::Nothing };
    let (start, before, cpu) = (std::time::Instant::now(), peak_memory(), cpu_time());
    let collect = |latency| engine.collect(n, latency).inspect(|&len| assert_eq!(len as u64, n)).map(drop);
    let done = match kind {
        "timers" => engine.load(load).inspect(|&sum| assert_eq!(sum, load.serial())).map(drop),
        "collect ready" => collect(Duration::ZERO),
        "collect timers" => collect(latency),
        _ => {
            // Without the gates themselves, which have been written before.
            let gates = Gates::leaked(n as usize, Opened::ByHand, Cpu::Nothing);
            return tell(peak_memory(), gates.run(&**engine).map(drop), n, start, cpu);
        }
    };
    tell(before, done, n, start, cpu);
}

fn tell(before: Option<u64>, done: Option<()>, n: u64, start: std::time::Instant, cpu: Option<Duration>) {
    let (Some(()), Some(before), Some(peak), Some(cpu), Some(now)) =
        (done, before, peak_memory(), cpu, cpu_time())
    else {
        return print!("{:>10}", "-");
    };
    print!(
        "{:>10} {:>10} {:>10.2} {:>10.2}",
        (peak - before) >> 20,
        (peak - before) / n,
        start.elapsed().as_secs_f64(),
        (now - cpu).as_secs_f64() * 1e6 / n as f64,
    );
}
