//! Prints what each path costs for each case, as `RESULTS.md` has it.
fn main() {
    let (cases, paths) = (benches::corpus::cases(), benches::paths::paths());
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [one, case, path, rounds] = &args[..] {
        assert_eq!(one, "one");
        let case = cases.iter().find(|c| c.name == case).unwrap();
        let path = paths.iter().find(|p| p.name == path).unwrap();
        benches::measured(path, case, rounds.parse().unwrap());
        return;
    }
    for case in &cases {
        println!("{} {} {}", case.name, case.lines.len(), case.bytes());
        for path in paths.iter().filter(|p| (p.fits)(case)) {
            let from = std::time::Instant::now();
            benches::measured(path, case, 1);
            println!("   {} {:?}", path.name, from.elapsed() / case.lines.len() as u32);
        }
    }
}
