//! Prints the number of allocations, the allocated bytes, and the growth of resident memory at the
//! peak. It is a separate program, so that counting does not affect the measured times.
//!
//! `allocations CASE PATH`, `allocations forward CASE`, `allocations connection NAME COUNT`,
//! `allocations turn PATH PIECES`.
use allocation_counter::{AllocationInfo, measure};
use benches::measure::resident;
use benches::paths::Forward;
use benches::{connections, corpus, measured, paths, translate_paths};

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
        ["turn", path, pieces] => {
            let pieces = pieces.parse().expect("a number");
            tell(|| assert_ne!(translate_paths::turn(path, pieces), 0));
        }
        [case, path] => {
            let case = corpus::case(case);
            let path = paths::path(path);
            // The setup of a path is not measured.
            (path.run)(&case);
            tell(|| assert_ne!(measured(&path, &case, 1), 0));
        }
        _ => panic!("expected a case and a path"),
    }
}

fn tell(what: impl FnOnce()) {
    let mut info = AllocationInfo::default();
    let resident = resident(|| info = measure(what));
    println!("{} {} {resident}", info.count_total, info.bytes_total);
}
