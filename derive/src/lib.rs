//! `#[derive(Divisible)]`
