// Stable sorts of C++'s libraries, for the bench `merge_sorts` (Kvik, Section 4.2.2).
//
//     stable_sort pstl|gnu <numbers> <threads>
//
// prints the nanoseconds of the sort, and a hash of the sorted numbers. The numbers are those of the bench.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <omp.h>
#include <parallel/algorithm>
#ifdef WITH_TBB
#include <execution>
#include <tbb/global_control.h>
#endif

// SplitMix64 of a number.
static std::uint64_t mix(std::uint64_t x) {
    x = (x + 1) * 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    const std::size_t n = std::strtoull(argv[2], nullptr, 10);
    const int threads = std::atoi(argv[3]);
    std::vector<std::uint32_t> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<std::uint32_t>(mix(i));
    omp_set_num_threads(threads);
    std::chrono::steady_clock::time_point begin;
    if (std::strcmp(argv[1], "gnu") == 0) {
        begin = std::chrono::steady_clock::now();
        __gnu_parallel::stable_sort(v.begin(), v.end());
    } else {
#ifdef WITH_TBB
        tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
        begin = std::chrono::steady_clock::now();
        std::stable_sort(std::execution::par, v.begin(), v.end());
#else
        return 2;
#endif
    }
    const auto elapsed = std::chrono::steady_clock::now() - begin;
    std::uint64_t hash = 0;
    for (std::uint32_t x : v) hash = (hash ^ x) * 0x100000001B3;
    std::printf("%lld %llu\n", static_cast<long long>(std::chrono::nanoseconds(elapsed).count()),
                static_cast<unsigned long long>(hash));
}
