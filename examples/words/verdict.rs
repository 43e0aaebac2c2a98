//! One sentence about a comparison: the chain that won, its lead, and the reason, all from measured numbers.

use super::common::timing::Times;

/// A lead that is smaller than this counts as a tie.
const LEAD: f64 = 1.05;

/// The measurements of a parallel chain.
#[derive(Clone, Debug)]
pub(crate) struct Measured<'a> {
    pub(crate) name: &'a str,
    pub(crate) times: Times,
    /// Number of tasks, each with a table of its own.
    pub(crate) tasks: usize,
    /// The busiest thread's share of the text, from 0 to 1.
    pub(crate) busiest: f64,
}

impl Measured<'_> {
    fn seconds(&self) -> f64 {
        self.times.median().as_secs_f64().max(1e-9)
    }

    /// Whether `self` is slower than `best` by more than the noise: the medians differ by more than 5 %, and the middle
    /// halves of the times do not overlap.
    fn loses_to(&self, best: &Self) -> bool {
        self.seconds() > LEAD * best.seconds() && self.times.quartiles().0 > best.times.quartiles().1
    }
}

/// The sentence about at least one parallel chain and the time of the sequential loop.
pub(crate) fn verdict(sequential: &Times, chains: &[Measured<'_>]) -> String {
    let by_time = |a: &&Measured<'_>, b: &&Measured<'_>| a.seconds().total_cmp(&b.seconds());
    let (Some(best), Some(slowest)) = (chains.iter().min_by(by_time), chains.iter().max_by(by_time)) else {
        return "No chain ran.".into();
    };
    let loop_is_faster = if sequential.median() <= best.times.median() {
        format!(
            "; yet the sequential loop took {:.2} times as long as `{}`, so this text is too short, or the processors are too \
             busy, to gain from threads",
            sequential.median().as_secs_f64() / best.seconds(),
            best.name
        )
    } else {
        String::new()
    };
    let (losers, ties): (Vec<_>, Vec<_>) = chains.iter().partition(|chain| chain.loses_to(best));
    let Some(loser) = losers.into_iter().max_by(by_time) else {
        let shares = || chains.iter().map(|chain| chain.busiest);
        let (least, most) = (shares().fold(1.0, f64::min), shares().fold(0.0, f64::max));
        return format!(
            "All chains tie: the slowest median is {:.2} times the fastest, no more than the times vary, and under every \
             chain the busiest thread counts {}{loop_is_faster}.",
            slowest.seconds() / best.seconds(),
            if percent(least) == percent(most) {
                format!("{} of the text", percent(most))
            } else {
                format!("{} to {} of the text", percent(least), percent(most))
            }
        );
    };
    let winners: Vec<String> = std::iter::once(best)
        .chain(ties.into_iter().filter(|chain| chain.name != best.name))
        .map(|chain| format!("`{}`", chain.name))
        .collect();
    let winners = match &winners[..] {
        [winner] => format!("{winner} won"),
        [tied @ .., last] => format!("{} and {last} won together", tied.join(", ")),
        [] => unreachable!("the fastest chain is among the winners"),
    };
    format!(
        "{winners}: {:.2} times as fast as `{}`, {}{loop_is_faster}.",
        loser.seconds() / best.seconds(),
        loser.name,
        reason(best, loser)
    )
}

/// Explains why `loser` is slower than `best`, as far as shares and tasks show it.
fn reason(best: &Measured<'_>, loser: &Measured<'_>) -> String {
    let shares = (loser.busiest > 1.1 * best.busiest).then(|| {
        format!(
            "whose busiest thread counts {} of the text instead of {}",
            percent(loser.busiest),
            percent(best.busiest)
        )
    });
    let tasks = (loser.tasks > 4 * best.tasks.max(1))
        .then(|| format!("which merges the tables of {} tasks instead of {}", loser.tasks, best.tasks));
    match (shares, tasks) {
        (Some(shares), Some(tasks)) => format!("{shares}, and {tasks}"),
        (Some(reason), None) | (None, Some(reason)) => reason,
        (None, None) => format!(
            "although both make a like number of tasks and its busiest thread counts no more than {} of the text, so the \
             division is not the reason",
            percent(loser.busiest)
        ),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::{Measured, Times, verdict};
    use std::time::Duration;

    fn times(milliseconds: [u64; 5]) -> Times {
        Times::new(milliseconds.map(Duration::from_millis).into())
    }

    fn chain(name: &str, milliseconds: [u64; 5], tasks: usize, busiest: f64) -> Measured<'_> {
        Measured { name, times: times(milliseconds), tasks, busiest }
    }

    #[test]
    fn the_winner_is_named_with_its_lead_and_the_share_that_explains_it() {
        let chains = [
            chain("uneven", [150, 151, 152, 153, 154], 2, 0.75),
            chain("even", [99, 100, 100, 101, 102], 8, 0.5),
            chain("middling", [120, 121, 122, 123, 124], 4, 0.6),
        ];
        assert_eq!(
            verdict(&times([200; 5]), &chains),
            "`even` won: 1.52 times as fast as `uneven`, whose busiest thread counts 75 % of the text instead of 50 %."
        );
    }

    #[test]
    fn many_tasks_explain_a_loss_too() {
        let chains = [
            chain("few", [100; 5], 8, 0.5),
            chain("many", [130; 5], 4000, 0.5),
            chain("also", [101; 5], 8, 0.5),
        ];
        assert_eq!(
            verdict(&times([200; 5]), &chains),
            "`few` and `also` won together: 1.30 times as fast as `many`, which merges the tables of 4000 tasks instead of 8."
        );
    }

    #[test]
    fn chains_that_vary_more_than_they_differ_tie() {
        let chains =
            [chain("a", [90, 95, 100, 130, 140], 8, 0.5), chain("b", [100, 105, 110, 120, 150], 8, 0.52)];
        let sentence = verdict(&times([200; 5]), &chains);
        assert!(sentence.starts_with("All chains tie: the slowest median is 1.10 times"), "{sentence}");
        assert!(sentence.ends_with("counts 50 % to 52 % of the text."), "{sentence}");
        let close = [chain("a", [100; 5], 8, 0.5), chain("b", [104; 5], 8, 0.5)];
        assert!(verdict(&times([200; 5]), &close).starts_with("All chains tie"));
    }

    #[test]
    fn a_faster_loop_is_mentioned() {
        let chains = [chain("a", [100; 5], 8, 0.5), chain("b", [300; 5], 8, 1.0)];
        let sentence = verdict(&times([50; 5]), &chains);
        assert!(
            sentence.starts_with("`a` won: 3.00 times as fast as `b`, whose busiest thread"),
            "{sentence}"
        );
        assert!(sentence.contains("; yet the sequential loop took 0.50 times as long as `a`"), "{sentence}");
        let sentence = verdict(&times([50; 5]), &chains[..1]);
        assert!(sentence.starts_with("All chains tie: "), "{sentence}");
        assert!(sentence.contains("; yet the sequential loop"), "{sentence}");
    }

    #[test]
    fn a_loss_without_a_measured_reason_is_not_explained() {
        let chains = [chain("a", [100; 5], 8, 0.5), chain("b", [150; 5], 8, 0.5)];
        assert!(verdict(&times([200; 5]), &chains).ends_with("so the division is not the reason."));
    }
}
