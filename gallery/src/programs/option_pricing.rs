//! Estimates the price of a European call option by random samples, with a random generator for each block (classic: Monte Carlo).

use crate::program::{Program, close, reads};
use fastrand::Rng;
use std::f64::consts::TAU;

pub(super) const PROGRAM: Program = Program {
    name: "option_pricing",
    suite: "classic",
    what: "the price of an option by random samples",
    unit: "samples",
    size: 10_000_000,
    quick: 250_000,
    schedule: "",
    why: "a tie: all blocks cost the same, and a block is long",
    source: include_str!("option_pricing.rs"),
    case: |size| {
        reads(blocks(size), [sequential::run, rayon::run, furcate::run], |blocks, price| {
            close(&[*price], &[sequential::run(blocks)], 1e-9)?;
            let samples = (blocks * BLOCK) as f64;
            close(&[*price], &[BLACK_SCHOLES], 10.0 / samples.sqrt())
        })
    },
};

/// The price by the formula of Black and Scholes.
const BLACK_SCHOLES: f64 = 10.450_583_572_185_565;

const PRICE_TODAY: f64 = 100.0;
const STRIKE: f64 = 100.0;
const RATE: f64 = 0.05;
const VOLATILITY: f64 = 0.2;
const YEARS: f64 = 1.0;

/// The number of samples for each random generator.
const BLOCK: usize = 1000;

fn blocks(samples: usize) -> usize {
    samples.div_ceil(BLOCK)
}

/// Returns the sum of the option's payoffs in a block of samples.
fn payoffs(block: usize) -> f64 {
    let mut random = Rng::with_seed(block as u64);
    (0..BLOCK).map(|_| payoff(normal(&mut random))).sum()
}

/// Returns the option's payoff at the end, discounted to today.
fn payoff(normal: f64) -> f64 {
    let growth = (RATE - VOLATILITY * VOLATILITY / 2.0) * YEARS + VOLATILITY * YEARS.sqrt() * normal;
    (PRICE_TODAY * growth.exp() - STRIKE).max(0.0) * (-RATE * YEARS).exp()
}

/// Returns a normal random number (by Box and Muller).
fn normal(random: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (TAU * random.f64()).cos()
}

mod sequential {
    use super::{BLOCK, payoffs};

    pub(super) fn run(blocks: &usize) -> f64 {
        let sum: f64 = (0..*blocks).map(payoffs).sum();
        sum / (blocks * BLOCK) as f64
    }
}

mod rayon {
    use super::{BLOCK, payoffs};
    use rayon::prelude::*;

    pub(super) fn run(blocks: &usize) -> f64 {
        let sum: f64 = (0..*blocks).into_par_iter().map(payoffs).sum();
        sum / (blocks * BLOCK) as f64
    }
}

mod furcate {
    use super::{BLOCK, payoffs};
    use furcate::prelude::*;

    pub(super) fn run(blocks: &usize) -> f64 {
        let sum: f64 = (0..*blocks).into_par_iter().map(payoffs).sum();
        sum / (blocks * BLOCK) as f64
    }
}
