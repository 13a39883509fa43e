//! Prints how often a path allocates, how many bytes in all, and how many at the same time: `allocations CASE PATH`.
//! A program of its own, so that counting adds nothing to what the other one measures.
use allocation_counter::{AllocationInfo, measure};
use benches::{corpus, measured, paths};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [case, path] = &args[..] else { panic!("expected a case and a path") };
    let (case, path) = (corpus::case(case), paths::path(path));
    let AllocationInfo { count_total, bytes_total, bytes_max, .. } = measure(|| {
        measured(&path, &case, 1);
    });
    println!("{count_total} {bytes_total} {bytes_max}");
}
