//! Rayon's sorts, and two by `join`.

use crate::random::Random;
use crate::{Case, Check, Size};
use rayon::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

fn case(size: Size, sort: impl Fn(&mut Vec<u64>) + 'static) -> Case {
    let numbers = Random(6).numbers(size.pick(4_000_000, 50_000));
    let mut expected = numbers.clone();
    expected.sort_unstable();
    let expected = Rc::new(expected);
    let input = Rc::new(RefCell::new(Vec::new()));
    let run = {
        let input = Rc::clone(&input);
        move || {
            let mut sorted = input.take();
            sort(&mut sorted);
            let expected = Rc::clone(&expected);
            Check::new(move || sorted == *expected)
        }
    };
    Case { ready: Box::new(move || _ = input.replace(numbers.clone())), ..Case::new(run) }
}

pub(super) fn stable(size: Size) -> Case {
    case(size, |numbers| numbers.par_sort())
}

pub(super) fn unstable(size: Size) -> Case {
    case(size, |numbers| numbers.par_sort_unstable())
}

/// Hoare's, with the median of three.
pub(super) fn quicksort(size: Size) -> Case {
    fn sort(numbers: &mut [u64]) {
        if numbers.len() <= 32 {
            return numbers.sort_unstable();
        }
        let mut three = [numbers[0], numbers[numbers.len() / 2], numbers[numbers.len() - 1]];
        three.sort_unstable();
        let pivot = three[1];
        let (mut low, mut high) = (0, numbers.len() - 1);
        loop {
            while numbers[low] < pivot {
                low += 1;
            }
            while numbers[high] > pivot {
                high -= 1;
            }
            if low >= high {
                break;
            }
            numbers.swap(low, high);
            low += 1;
            high -= 1;
        }
        let (left, right) = numbers.split_at_mut(low);
        rayon::join(|| sort(left), || sort(right));
    }
    case(size, |numbers| sort(numbers))
}

/// Top-down, with sequential merges.
pub(super) fn mergesort(size: Size) -> Case {
    fn sort(numbers: &mut [u64], buffer: &mut [u64]) {
        if numbers.len() <= 64 {
            return numbers.sort();
        }
        let middle = numbers.len() / 2;
        let (left, right) = numbers.split_at_mut(middle);
        let (left_buffer, right_buffer) = buffer.split_at_mut(middle);
        rayon::join(|| sort(left, left_buffer), || sort(right, right_buffer));
        buffer.copy_from_slice(numbers);
        let (mut left, mut right) = buffer.split_at(middle);
        for number in numbers {
            let from = if right.is_empty() || !left.is_empty() && left[0] <= right[0] {
                &mut left
            } else {
                &mut right
            };
            *number = from[0];
            *from = &from[1..];
        }
    }
    case(size, |numbers| {
        let mut buffer = vec![0; numbers.len()];
        sort(numbers, &mut buffer);
    })
}
