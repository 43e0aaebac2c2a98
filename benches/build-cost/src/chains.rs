//! Typical chains, one a function.

use crate::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};

struct Person {
    name: String,
    age: u32,
    height: f64,
}

fn sum(numbers: &[u64]) -> u64 {
    numbers.par_iter().sum()
}

fn sum_of_squares(numbers: &[u64]) -> u64 {
    numbers.par_iter().map(|x| x * x).sum()
}

fn mean_height(people: &[Person]) -> f64 {
    people.par_iter().map(|person| person.height).sum::<f64>() / people.len() as f64
}

fn filter_collect(numbers: &[u64]) -> Vec<u64> {
    numbers.par_iter().copied().filter(|x| x % 3 == 0).collect()
}

fn map_collect(numbers: &[u64]) -> Vec<String> {
    numbers.par_iter().map(|x| x.to_string()).collect()
}

fn collect_map(people: &[Person]) -> HashMap<&str, u32> {
    people.par_iter().map(|person| (person.name.as_str(), person.age)).collect()
}

fn collect_string(people: &[Person]) -> String {
    people.par_iter().map(|person| person.name.as_str()).collect()
}

fn collect_result(texts: &[String]) -> Result<Vec<u64>, std::num::ParseIntError> {
    texts.par_iter().map(|text| text.parse::<u64>()).collect()
}

fn sort(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.par_sort_unstable();
    numbers
}

fn sort_by_key(mut people: Vec<Person>) -> Vec<Person> {
    people.par_sort_by_key(|person| person.age);
    people
}

fn chunks(numbers: &[u64]) -> Vec<u64> {
    numbers.par_chunks(100).map(|chunk| chunk.iter().sum()).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.par_iter().zip(b).map(|(a, b)| a * b).sum()
}

fn enumerate(numbers: &[u64]) -> u64 {
    numbers.par_iter().enumerate().map(|(i, x)| i as u64 * x).sum()
}

fn find_first(numbers: &[u64]) -> Option<&u64> {
    numbers.par_iter().find_first(|&&x| x > 1000)
}

fn any(people: &[Person]) -> bool {
    people.par_iter().any(|person| person.age > 100)
}

fn flat_map(numbers: &[u64]) -> Vec<u64> {
    numbers.par_iter().flat_map_iter(|&x| (0..x % 5).map(move |y| x + y)).collect()
}

fn fold_reduce(texts: &[String]) -> HashMap<usize, usize> {
    texts
        .par_iter()
        .fold(HashMap::new, |mut counts, text| {
            *counts.entry(text.len()).or_default() += 1;
            counts
        })
        .reduce(HashMap::new, |mut all, counts| {
            for (length, count) in counts {
                *all.entry(length).or_default() += count;
            }
            all
        })
}

fn map_init(numbers: &[u64]) -> Vec<usize> {
    numbers
        .par_iter()
        .map_init(String::new, |buffer, x| {
            use std::fmt::Write;
            buffer.clear();
            let _ = write!(buffer, "{x:b}");
            buffer.len()
        })
        .collect()
}

fn for_each_mut(numbers: &mut [u64]) {
    numbers.par_iter_mut().for_each(|x| *x = x.wrapping_mul(3));
}

fn windows(numbers: &[u64]) -> usize {
    numbers.par_windows(2).filter(|pair| pair[0] < pair[1]).count()
}

fn chars(text: &str) -> usize {
    text.par_chars().filter(|c| c.is_alphabetic()).count()
}

fn lines(text: &str) -> u64 {
    text.par_lines().filter_map(|line| line.parse::<u64>().ok()).sum()
}

fn group(people: &[Person]) -> BTreeMap<u32, Vec<&str>> {
    people
        .par_iter()
        .fold(BTreeMap::<u32, Vec<&str>>::new, |mut groups, person| {
            groups.entry(person.age).or_default().push(&person.name);
            groups
        })
        .reduce(BTreeMap::new, |mut all, groups| {
            for (age, names) in groups {
                all.entry(age).or_default().extend(names);
            }
            all
        })
}

fn oldest(people: &[Person]) -> Option<&Person> {
    people.par_iter().max_by_key(|person| person.age)
}

fn reduce(points: &[(f64, f64)]) -> (f64, f64) {
    points.par_iter().copied().reduce(|| (0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1))
}

fn partition(numbers: Vec<u64>) -> (Vec<u64>, Vec<u64>) {
    numbers.into_par_iter().partition(|x| x % 2 == 0)
}

fn distinct(range: std::ops::Range<u64>) -> HashSet<u64> {
    range.into_par_iter().map(|x| x * x % 1009).collect()
}

fn rows(image: &mut [u8], width: usize) {
    image.par_chunks_mut(width).enumerate().for_each(|(y, row)| {
        for (x, pixel) in row.iter_mut().enumerate() {
            *pixel = (x ^ y) as u8;
        }
    });
}

/// Runs every chain once.
pub(crate) fn all() -> u64 {
    let mut numbers: Vec<u64> = (0..1000).map(|x| x * 7919 % 1009).collect();
    let texts: Vec<String> = numbers.iter().map(u64::to_string).collect();
    let people: Vec<Person> = (0..100)
        .map(|i| Person { name: format!("n{i}"), age: i * 37 % 101, height: 1.5 + f64::from(i) / 200.0 })
        .collect();
    let floats: Vec<f64> = numbers.iter().map(|&x| x as f64).collect();
    let points: Vec<(f64, f64)> = floats.iter().map(|&x| (x, -x)).collect();
    let text = texts.join("\n");
    let mut image = vec![0; 64 * 64];

    let mut result = sum(&numbers) + sum_of_squares(&numbers) + mean_height(&people) as u64;
    result += (filter_collect(&numbers).len() + map_collect(&numbers).len()) as u64;
    result += (collect_map(&people).len() + collect_string(&people).len()) as u64;
    result += collect_result(&texts).map_or(0, |numbers| numbers.len() as u64);
    result += sort(numbers.clone())[10] + chunks(&numbers)[1] + dot(&floats, &floats) as u64;
    result += enumerate(&numbers) + find_first(&numbers).copied().unwrap_or(0) + u64::from(any(&people));
    result += (flat_map(&numbers).len() + fold_reduce(&texts).len() + map_init(&numbers).len()) as u64;
    for_each_mut(&mut numbers);
    result += (windows(&numbers) + chars(&text)) as u64 + lines(&text);
    result += group(&people).len() as u64 + oldest(&people).map_or(0, |person| u64::from(person.age));
    result += reduce(&points).0 as u64 + partition(numbers).0.len() as u64 + distinct(0..5000).len() as u64;
    rows(&mut image, 64);
    result + u64::from(image[100]) + u64::from(sort_by_key(people)[3].age)
}
