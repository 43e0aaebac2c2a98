//! Parses lines of JSON, and adds up their values by a key (classic: a log of newline-delimited JSON).

use crate::inputs::Vocabulary;
use crate::program::{Program, equal, reads};
use fastrand::Rng;
use serde::Deserialize;
use std::collections::HashMap;
use std::fmt::Write;
use std::ops::AddAssign;

pub(super) const PROGRAM: Program = Program {
    name: "json_lines",
    suite: "classic",
    what: "sales per product, from lines of JSON",
    unit: "lines",
    size: 1_500_000,
    quick: 30_000,
    schedule: "",
    why: "a tie: all lines cost about the same, and parsing them costs far more than everything else",
    source: include_str!("json_lines.rs"),
    case: |size| reads(lines(size), [sequential::run, rayon::run, furcate::run], check),
};

/// The fields of a line that are needed. The product's name has no escapes, so it is borrowed from the line.
#[derive(Deserialize)]
struct Sale<'a> {
    product: &'a str,
    quantity: u64,
    cents: u64,
}

fn parse(line: &str) -> Sale<'_> {
    serde_json::from_str(line).expect("each line is a sale")
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Total {
    sales: u64,
    cents: u64,
}

impl AddAssign for Total {
    fn add_assign(&mut self, other: Total) {
        self.sales += other.sales;
        self.cents += other.cents;
    }
}

type Totals<'a> = HashMap<&'a str, Total>;

fn add<'a>(mut totals: Totals<'a>, sale: Sale<'a>) -> Totals<'a> {
    let total = totals.entry(sale.product).or_default();
    total.sales += 1;
    total.cents += sale.quantity * sale.cents;
    totals
}

fn sorted(totals: Totals) -> Vec<(String, Total)> {
    let mut totals: Vec<_> = totals.into_iter().map(|(product, total)| (product.to_owned(), total)).collect();
    totals.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    totals
}

fn lines(count: usize) -> String {
    let mut random = Rng::with_seed(5);
    let names = Vocabulary::new().text(8000);
    let names: Vec<&str> = names.split_whitespace().collect();
    let mut lines = String::new();
    for id in 0..count {
        let [product, customer] = [(); 2].map(|()| names[random.usize(..names.len())]);
        let (quantity, cents, vip) = (random.u64(1..10), random.u64(99..10_000), random.bool());
        let sale = format_args!(r#""product":"{product}","quantity":{quantity},"cents":{cents}"#);
        let more = format_args!(r#""customer":{{"name":"{customer}","vip":{vip}}},"tags":["web",null]"#);
        writeln!(lines, r#"{{"id":{id},{sale},{more}}}"#).expect("strings grow");
    }
    lines
}

fn check(lines: &String, totals: &Vec<(String, Total)>) -> Result<(), String> {
    equal(&totals.iter().map(|(_, total)| total.sales as usize).sum(), &lines.lines().count())?;
    let cents = |line: &str| {
        let sale: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(sale["quantity"].as_u64()? * sale["cents"].as_u64()?)
    };
    let all: Option<u64> = lines.lines().map(cents).sum();
    equal(&Some(totals.iter().map(|(_, total)| total.cents).sum()), &all)?;
    equal(totals, &sequential::run(lines))
}

mod sequential {
    use super::{Total, Totals, add, parse, sorted};

    pub(super) fn run(lines: &String) -> Vec<(String, Total)> {
        sorted(lines.lines().map(parse).fold(Totals::new(), add))
    }
}

mod rayon {
    use super::{Total, Totals, add, parse, sorted};
    use crate::counts::merge;
    use rayon::prelude::*;

    pub(super) fn run(lines: &String) -> Vec<(String, Total)> {
        let totals = lines.par_lines().map(parse).fold(Totals::new, add);
        sorted(totals.reduce(Totals::new, merge))
    }
}

mod furcate {
    use super::{Total, Totals, add, parse, sorted};
    use crate::counts::merge;
    use furcate::prelude::*;

    pub(super) fn run(lines: &String) -> Vec<(String, Total)> {
        let totals = lines.par_lines().map(parse).fold(Totals::new, add);
        sorted(totals.reduce(Totals::new, merge))
    }
}
