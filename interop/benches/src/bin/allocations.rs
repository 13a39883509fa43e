//! Prints how often something allocates, how many bytes in all, and how many more the system held for it at its height.
//! A program of its own, so that counting adds nothing to what the other one measures.
//!
//! `allocations CASE PATH`, `allocations forward CASE`, `allocations connection NAME COUNT`, `allocations endless WHAT`,
//! `allocations turn PATH PIECES`.
use allocation_counter::{AllocationInfo, measure};
use benches::paths::Forward;
use benches::{connections, corpus, measured, paths, translate_paths};
use std::fs;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["forward", case] => {
            let case = corpus::case(case);
            let mut forward = Forward::new(&case);
            forward.pass(&case);
            tell(|| assert_eq!(forward.pass(&case), case.lines.len()));
        }
        ["connection", name, count] => {
            let (_, exchange) = connections::connection(name).expect("a connection");
            let count = count.parse().expect("a number");
            tell(|| exchange(count));
        }
        ["endless", "line"] => tell(paths::endless_line),
        ["turn", path, pieces] => {
            let pieces = pieces.parse().expect("a number");
            tell(|| assert_ne!(translate_paths::turn(path, pieces), 0));
        }
        ["endless", "length"] => tell(paths::endless_length),
        [case, path] => {
            let (case, path) = (corpus::case(case), paths::path(path));
            // What a path does once for a case is done before it is measured.
            (path.run)(&case);
            tell(|| assert_ne!(measured(&path, &case, 1), 0));
        }
        _ => panic!("expected a case and a path"),
    }
}

fn tell(what: impl FnOnce()) {
    // Forgets how much was held before.
    fs::write("/proc/self/clear_refs", "5").expect("Linux");
    let before = held();
    let AllocationInfo { count_total, bytes_total, .. } = measure(what);
    println!("{count_total} {bytes_total} {}", held() - before);
}

/// The most bytes that the system held for this program.
fn held() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux");
    let kibibytes: u64 = line.trim_end_matches("kB").trim().parse().expect("a number");
    1024 * kibibytes
}
