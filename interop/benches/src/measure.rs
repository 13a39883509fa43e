//! Measures paths over cases, and prints what each costs for each. The program runs itself under callgrind, once for each,
//! and `allocations` beside itself.
use crate::corpus::{self, Case};
use crate::paths::Path;
use crate::{measured, paths};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// How many programs count at a time.
const AT_ONCE: usize = 4;

/// What one path costs for one case, all lines together.
#[derive(Clone, Copy, Default)]
pub struct Cost {
    pub instructions: u64,
    pub allocations: u64,
    pub allocated: u64,
    pub peak: u64,
    pub time: Duration,
    /// Time over that of the first path, the median of the rounds.
    pub ratio: f64,
}

/// By path and case.
pub type Costs = BTreeMap<(&'static str, &'static str), Cost>;

/// Prints what these paths cost for these cases, and gives it back, with the number of lines and bytes of each case.
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
        let (count, bytes) = (cost.allocations as f64 / lines, cost.allocated as f64 / lines);
        format!("{count:.3} / {}", short(bytes)).replace(".000", "")
    });
    (costs, sizes)
}

/// What callgrind looks at.
pub fn run(case: &str, path: &str, rounds: usize) {
    let (path, case) = (paths::path(path), corpus::case(case));
    // What a path does once for a case is done before it is measured.
    (path.run)(&case);
    measured(&path, &case, rounds);
}

/// Returns the bytes that a path copies for a case, all lines together: the arguments of functions that copy memory, as the
/// difference of two runs, so that the setup of the case does not count.
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
    // One warms up; the order changes with each round.
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

/// Instructions and allocations of each path. What is counted does not change with what runs beside it.
fn counts(case: &str, paths: &[&Path]) -> Vec<(u64, [u64; 3])> {
    let count = |path: &Path| (instructions(case, path.name), allocations(&[case, path.name]));
    thread::scope(|scope| {
        let counting: Vec<_> = paths.iter().map(|path| scope.spawn(move || count(path))).collect();
        counting.into_iter().map(|count| count.join().expect("counts")).collect()
    })
}

fn instructions(case: &str, path: &str) -> u64 {
    let only = ["--collect-atstart=no", "--toggle-collect=benches::measured*"];
    callgrind_with(&only, &[case, path])
}

/// The instructions of the whole program.
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

/// How often something allocates, how many bytes, and how many were held at its height.
pub fn allocations(args: &[&str]) -> [u64; 3] {
    told("allocations", args)
}

/// How many bytes what never ends makes a reader hold at its height: resident ones, and allocated ones.
pub fn held(what: &str) -> [u64; 2] {
    told("held", &[what])
}

/// What a program says that counts, beside this one.
fn told<const N: usize>(name: &str, args: &[&str]) -> [u64; N] {
    let program: PathBuf = std::env::current_exe().expect("a path").with_file_name(name);
    let output = Command::new(program).args(args).output().expect(name);
    let said = String::from_utf8_lossy(&output.stdout);
    let counts: Vec<u64> = said.split_whitespace().flat_map(str::parse).collect();
    counts.try_into().expect("as many counts")
}

/// How many more bytes the system held for this program at the height of what is done.
pub fn resident(what: impl FnOnce()) -> u64 {
    let most = || {
        let status = fs::read_to_string("/proc/self/status").expect("Linux");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux");
        let kibibytes: u64 = line.trim_end_matches("kB").trim().parse().expect("a number");
        1024 * kibibytes
    };
    // Forgets how much was held before.
    fs::write("/proc/self/clear_refs", "5").expect("Linux");
    let before = most();
    what();
    most() - before
}

/// The number of lines and bytes of each case.
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

/// A number in few digits.
pub fn short(number: f64) -> String {
    match number {
        ..1e3 => format!("{number:.0}"),
        ..1e4 => format!("{:.2}k", number / 1e3),
        ..1e6 => format!("{:.1}k", number / 1e3),
        _ => format!("{:.2}M", number / 1e6),
    }
}

/// What the project holds itself to.
pub struct Goal {
    pub what: &'static str,
    pub is: f64,
    /// Time over time, where that is measured in one program.
    pub time: Option<f64>,
    pub must: f64,
    pub target: f64,
    /// Whether more is better.
    pub is_ratio: bool,
}

impl Goal {
    /// A ratio of instructions and one of times: more is better.
    pub fn ratio(what: &'static str, (is, time): (f64, f64), must: f64, target: f64) -> Self {
        Self { what, is, time: Some(time), must, target, is_ratio: true }
    }

    /// A figure: less is better.
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
        let (what, is) = (self.what, number(self.is));
        let (must, target) = (number(self.must), number(self.target));
        println!("| {what} | {is} | {time} | {sign} {must} | {sign} {target} | {reached} |");
    }
}
