//! Measures each path over each case, and prints the costs. The program runs itself under
//! callgrind, once for each pair, and the program `allocations`.
use crate::corpus::{self, Case};
use crate::paths::Path;
use crate::{measured, paths};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// Number of concurrent counting programs.
const AT_ONCE: usize = 4;

/// Cost of one path for one case, summed over its lines.
#[derive(Clone, Copy, Default)]
pub struct Cost {
    pub instructions: u64,
    pub allocations: u64,
    pub allocated: u64,
    pub peak: u64,
    pub time: Duration,
    /// Time relative to the first path, median of the rounds.
    pub ratio: f64,
}

/// Costs by path and case.
pub type Costs = BTreeMap<(&'static str, &'static str), Cost>;

/// Measures these paths over these cases and prints the tables. Returns costs and sizes.
pub fn table(cases: &[&'static str], paths: &[Path]) -> (Costs, Sizes) {
    let mut costs = Costs::new();
    let mut sizes = BTreeMap::new();
    for name in cases {
        let case = corpus::case(name);
        eprintln!("{name}");
        sizes.insert(*name, (case.lines.len(), case.bytes()));
        measure(&case, paths, &mut costs);
    }
    let print = |title: &str, show: &dyn Fn(&Cost, f64) -> String| {
        print((&costs, &sizes), cases, paths, title, show);
    };
    print("Instructions a message", &|cost, lines| short(cost.instructions as f64 / lines));
    print("Time over that of the first path (nanoseconds a message)", &|cost, lines| {
        format!("{:.2} ({})", cost.ratio, short(cost.time.as_nanos() as f64 / lines))
    });
    print("Allocations / allocated bytes a message", &|cost, lines| {
        let count = cost.allocations as f64 / lines;
        let bytes = cost.allocated as f64 / lines;
        format!("{count:.3} / {}", short(bytes)).replace(".000", "")
    });
    (costs, sizes)
}

/// Runs one path over one case, under callgrind.
pub fn run(case: &str, path: &str, rounds: usize) {
    let path = paths::path(path);
    let case = corpus::case(case);
    // The setup of a path is not measured.
    (path.run)(&case);
    measured(&path, &case, rounds);
}

/// Returns the bytes that a path copies for a case, all lines together: the arguments of functions
/// that copy memory, as the difference of two runs, so that the setup of the case does not count.
pub fn copied(case: &str, path: &str) -> u64 {
    let count = |rounds: &str| {
        let valgrind = Command::new("valgrind")
            .args(["--tool=dhat", "--mode=copy", "--dhat-out-file=/dev/null"])
            .arg(std::env::current_exe().expect("a path"))
            .args([case, path, rounds])
            .output()
            .expect("valgrind");
        let said = String::from_utf8_lossy(&valgrind.stderr);
        assert!(valgrind.status.success(), "{said}");
        let total = said.lines().find_map(|line| line.split_once("Total:")?.1.split_once(" bytes"));
        let digits = total.map(|(total, _)| total.trim().replace(',', ""));
        digits.and_then(|digits| digits.parse::<u64>().ok()).expect("a count")
    };
    (count("3") - count("1")) / 2
}

fn measure(case: &Case, paths: &[Path], costs: &mut Costs) {
    let paths: Vec<_> = paths.iter().filter(|path| (path.fits)(case)).collect();
    let mut times = vec![Vec::new(); paths.len()];
    // The first round is a warm-up. The order changes with each round.
    for round in 0..10 {
        for at in 0..paths.len() {
            let at = (at + round) % paths.len();
            let from = Instant::now();
            let repeats = 1 + 300_000 / case.stream.len();
            measured(paths[at], case, repeats);
            times[at].push(from.elapsed() / repeats as u32);
        }
    }
    let counts = paths.chunks(AT_ONCE).flat_map(|paths| counts(case.name, paths));
    for ((path, times_of_path), count) in paths.iter().zip(&times).zip(counts) {
        let (instructions, [allocations, allocated, peak]) = count;
        let mut ratios: Vec<_> = (times_of_path.iter().zip(&times[0]).skip(1))
            .map(|(time, base)| time.as_secs_f64() / base.as_secs_f64())
            .collect();
        ratios.sort_by(f64::total_cmp);
        let mut sorted = times_of_path[1..].to_vec();
        sorted.sort();
        let cost = Cost {
            instructions,
            allocations,
            allocated,
            peak,
            time: sorted[sorted.len() / 2],
            ratio: ratios[ratios.len() / 2],
        };
        costs.insert((path.name, case.name), cost);
    }
}

/// Returns instructions and allocations of each path. Both are independent of other running
/// programs.
fn counts(case: &str, paths: &[&Path]) -> Vec<(u64, [u64; 3])> {
    let count = |path: &Path| (instructions(case, path.name), allocations(&[case, path.name]));
    thread::scope(|scope| {
        let counting: Vec<_> = paths.iter().map(|path| scope.spawn(move || count(path))).collect();
        counting.into_iter().map(|count| count.join().expect("counts")).collect()
    })
}

/// Returns the instructions of a path over a case.
pub fn instructions(case: &str, path: &str) -> u64 {
    let only = ["--collect-atstart=no", "--toggle-collect=benches::measured*"];
    callgrind_with(&only, &[case, path])
}

/// Returns the instructions of the whole program with these arguments.
pub fn callgrind(args: &[&str]) -> u64 {
    callgrind_with(&[], args)
}

fn callgrind_with(options: &[&str], args: &[&str]) -> u64 {
    let valgrind = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(options)
        .arg(std::env::current_exe().expect("a path"))
        .args(args)
        .output()
        .expect("valgrind");
    let said = String::from_utf8_lossy(&valgrind.stderr);
    assert!(valgrind.status.success(), "{said}");
    let collected = said.lines().find_map(|line| line.split_once("Collected : "));
    collected.and_then(|(_, count)| count.trim().parse().ok()).expect("a count")
}

/// Returns the number of allocations, the allocated bytes, and the growth of resident memory at the
/// peak.
pub fn allocations(args: &[&str]) -> [u64; 3] {
    printed("allocations", args)
}

/// Returns the peak memory of a reader of an endless input, in bytes: resident, and allocated.
pub fn held(what: &str) -> [u64; 2] {
    printed("held", &[what])
}

/// Runs a counting program of the same folder, and returns the numbers that it prints.
fn printed<const N: usize>(name: &str, args: &[&str]) -> [u64; N] {
    let program: PathBuf = std::env::current_exe().expect("a path").with_file_name(name);
    let output = Command::new(program).args(args).output().expect(name);
    let said = String::from_utf8_lossy(&output.stdout);
    let counts: Vec<u64> = said.split_whitespace().flat_map(str::parse).collect();
    counts.try_into().expect("as many counts")
}

/// Returns by how many bytes the resident memory of this process grew at the peak of a call.
pub fn resident(what: impl FnOnce()) -> u64 {
    let most = || {
        let status = fs::read_to_string("/proc/self/status").expect("Linux");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux");
        let kibibytes: u64 = line.trim_end_matches("kB").trim().parse().expect("a number");
        1024 * kibibytes
    };
    // Resets the peak.
    fs::write("/proc/self/clear_refs", "5").expect("Linux");
    let before = most();
    what();
    most() - before
}

/// Lines and bytes of each case.
pub type Sizes = BTreeMap<&'static str, (usize, usize)>;

fn print(
    (costs, sizes): (&Costs, &Sizes),
    cases: &[&'static str],
    paths: &[Path],
    title: &str,
    show: &dyn Fn(&Cost, f64) -> String,
) {
    println!("## {title}\n");
    for names in cases.chunks(9) {
        println!("| | {} |\n|---|{}", names.join(" | "), "---|".repeat(names.len()));
        let bytes = names.iter().map(|name| {
            let (lines, bytes) = sizes[name];
            short(bytes as f64 / lines as f64)
        });
        println!("| bytes a message | {} |", bytes.collect::<Vec<_>>().join(" | "));
        for path in paths {
            let cells = names.iter().map(|name| {
                let lines = sizes[name].0 as f64;
                costs.get(&(path.name, name)).map_or("–".to_owned(), |cost| show(cost, lines))
            });
            println!("| {} | {} |", path.name, cells.collect::<Vec<_>>().join(" | "));
        }
        println!();
    }
}

/// Formats a number with few digits.
pub fn short(number: f64) -> String {
    match number {
        ..1e3 => format!("{number:.0}"),
        ..1e4 => format!("{:.2}k", number / 1e3),
        ..1e6 => format!("{:.1}k", number / 1e3),
        _ => format!("{:.2}M", number / 1e6),
    }
}

/// A goal of the project.
pub struct Goal {
    pub what: &'static str,
    pub is: f64,
    /// Ratio of times, if both are measured in one program.
    pub time: Option<f64>,
    pub must: f64,
    pub target: f64,
    /// Whether a larger value is better.
    pub is_ratio: bool,
}

impl Goal {
    /// Creates a goal for a ratio of instructions and one of times. Larger is better.
    pub fn ratio(what: &'static str, (is, time): (f64, f64), must: f64, target: f64) -> Self {
        Self { what, is, time: Some(time), must, target, is_ratio: true }
    }

    /// Creates a goal for a figure. Smaller is better.
    pub fn at_most(what: &'static str, is: f64, must: f64, target: f64) -> Self {
        Self { what, is, time: None, must, target, is_ratio: false }
    }

    /// Prints a row.
    pub fn print(&self) {
        let reaches = |aim: f64| if self.is_ratio { self.is >= aim } else { self.is <= aim };
        let reached = match (reaches(self.must), reaches(self.target)) {
            (_, true) => "target",
            (true, false) => "must",
            (false, false) => "**no**",
        };
        let sign = if self.is_ratio { "≥" } else { "≤" };
        let number = |number: f64| match number {
            0.0 => "0".to_owned(),
            0.01.. => format!("{number:.2}"),
            _ => format!("{number:.4}"),
        };
        let time = self.time.map_or("–".to_owned(), |time| format!("{time:.2}"));
        let what = self.what;
        let is = number(self.is);
        let must = number(self.must);
        let target = number(self.target);
        println!("| {what} | {is} | {time} | {sign} {must} | {sign} {target} | {reached} |");
    }
}
