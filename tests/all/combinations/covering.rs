//! All pairs: counts which values of two dimensions have met in a case.

use testkit::Random;

/// Numbers of cases in which two values of different dimensions have met.
pub(crate) struct Covering {
    /// Index of the first value of each dimension.
    begin: Vec<usize>,
    names: Vec<(&'static str, String)>,
    met: Vec<u32>,
}

/// A dimension's value.
pub(crate) type Value = (usize, usize);

impl Covering {
    pub(crate) fn of(dimensions: &[(&'static str, Vec<String>)]) -> Self {
        let (mut begin, mut names) = (Vec::new(), Vec::new());
        for (dimension, values) in dimensions {
            begin.push(names.len());
            names.extend(values.iter().map(|value| (*dimension, value.clone())));
        }
        let met = vec![0; names.len() * names.len()];
        Covering { begin, names, met }
    }

    fn index(&self, (first, a): Value, (second, b): Value) -> usize {
        (self.begin[first] + a) * self.names.len() + self.begin[second] + b
    }

    /// Chooses, of some values of a dimension, one that has met the values chosen before least often.
    pub(crate) fn choose(
        &self,
        random: &mut Random,
        chosen: &[Value],
        dimension: usize,
        values: impl Iterator<Item = usize>,
    ) -> usize {
        let cost = |value| {
            let met = |&other| f64::from(self.met[self.index(other, (dimension, value))]);
            chosen.iter().map(|other| 1.0 - 1.0 / (1.0 + met(other)).powi(2)).sum::<f64>()
        };
        let costs: Vec<(f64, u64, usize)> = values.map(|value| (cost(value), random.next(), value)).collect();
        costs.into_iter().min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).expect("there is one").2
    }

    /// Counts a case with these values.
    pub(crate) fn count(&mut self, case: &[Value]) {
        for &a in case {
            for &b in case {
                let at = self.index(a, b);
                self.met[at] += 1;
            }
        }
    }

    /// Panics unless all pairs that fit together have met.
    pub(crate) fn assert_all(&self, fit: impl Fn(Value, Value) -> bool) {
        let sizes = |dimension: usize| {
            self.begin.get(dimension + 1).copied().unwrap_or(self.names.len()) - self.begin[dimension]
        };
        let (mut pairs, mut missing) = (0, Vec::new());
        for first in 0..self.begin.len() {
            for second in first + 1..self.begin.len() {
                for a in 0..sizes(first) {
                    for b in 0..sizes(second) {
                        let (a, b) = ((first, a), (second, b));
                        if fit(a, b) {
                            pairs += 1;
                            if self.met[self.index(a, b)] == 0 {
                                missing.push((
                                    &self.names[self.begin[a.0] + a.1],
                                    &self.names[self.begin[b.0] + b.1],
                                ));
                            }
                        }
                    }
                }
            }
        }
        assert!(missing.is_empty(), "{} of {pairs} pairs are not covered: {missing:?}", missing.len());
        println!("all {pairs} pairs have met");
    }
}
