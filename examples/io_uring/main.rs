//! Reads and writes as futures beside chains: through threads that block, and by io_uring.
//!
//! `cargo run --release --example io_uring -- [BLOCKS]` copies a file of so many blocks of 64 KiB. Each block is read, its bytes
//! are turned by 13, and it is written. The example does that three times: with workers that block, with the futures of the crate
//! `blocking`, and, if the kernel allows io_uring, with the futures of the module `ring`. Linux only.

#[cfg(target_os = "linux")]
#[path = "../common/mod.rs"]
mod common;
#[cfg(target_os = "linux")]
mod copy;
#[cfg(target_os = "linux")]
mod ring;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    common::output::finish("io_uring", copy::run())
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("io_uring is a part of Linux. The recipe's form with the crate `blocking` runs here, too.");
}
