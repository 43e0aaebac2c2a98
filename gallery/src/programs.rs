//! The programs, in the order of the table.

use crate::program::Program;

mod breadth_first_search;
mod cholesky;
mod closest_pair;
mod comparison_sort;
mod crawl;
mod delaunay;
mod direction_optimizing_search;
mod find_first;
mod floyd_warshall;
mod game_of_life;
mod game_tree;
mod histogram;
mod integer_sort;
mod inverted_index;
mod json_lines;
mod k_d_tree;
mod k_means;
mod knapsack;
mod longest_common_subsequence;
mod longest_repeated_substring;
mod mandelbrot;
mod matrix_multiply;
mod maximal_independent_set;
mod maximal_matching;
mod merge_sort;
mod minimum_spanning_forest;
mod n_body;
mod nas_cg;
mod nas_ep;
mod nas_ft;
mod nas_is;
mod nas_mg;
mod nearest_neighbors;
mod option_pricing;
mod page_rank;
mod prefix_sums;
mod queens;
mod quickhull;
mod range_query;
mod ray_cast;
mod remove_duplicates;
mod sieve;
mod smith_waterman;
mod spanning_forest;
mod strassen;
mod suffix_array;
mod triangle_count;
mod unbalanced_tree_search;
mod wc;
mod word_counts;

/// Returns the program of a name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Program> {
    PROGRAMS.iter().find(|program| program.name == name)
}

/// All programs.
pub const PROGRAMS: &[Program] = &[
    // PBBS.
    comparison_sort::PROGRAM,
    integer_sort::PROGRAM,
    histogram::PROGRAM,
    remove_duplicates::PROGRAM,
    word_counts::PROGRAM,
    inverted_index::PROGRAM,
    suffix_array::PROGRAM,
    longest_repeated_substring::PROGRAM,
    breadth_first_search::PROGRAM,
    direction_optimizing_search::PROGRAM,
    maximal_independent_set::PROGRAM,
    maximal_matching::PROGRAM,
    spanning_forest::PROGRAM,
    minimum_spanning_forest::PROGRAM,
    quickhull::PROGRAM,
    delaunay::PROGRAM,
    nearest_neighbors::PROGRAM,
    range_query::PROGRAM,
    ray_cast::PROGRAM,
    n_body::PROGRAM,
    // NAS parallel benchmarks.
    nas_ep::PROGRAM,
    nas_cg::PROGRAM,
    nas_mg::PROGRAM,
    nas_ft::PROGRAM,
    nas_is::PROGRAM,
    // Others.
    k_means::PROGRAM,
    page_rank::PROGRAM,
    triangle_count::PROGRAM,
    floyd_warshall::PROGRAM,
    mandelbrot::PROGRAM,
    cholesky::PROGRAM,
    strassen::PROGRAM,
    matrix_multiply::PROGRAM,
    knapsack::PROGRAM,
    queens::PROGRAM,
    game_tree::PROGRAM,
    unbalanced_tree_search::PROGRAM,
    smith_waterman::PROGRAM,
    longest_common_subsequence::PROGRAM,
    json_lines::PROGRAM,
    wc::PROGRAM,
    crawl::PROGRAM,
    k_d_tree::PROGRAM,
    closest_pair::PROGRAM,
    merge_sort::PROGRAM,
    prefix_sums::PROGRAM,
    sieve::PROGRAM,
    game_of_life::PROGRAM,
    option_pricing::PROGRAM,
    find_first::PROGRAM,
];
