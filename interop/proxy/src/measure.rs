//! Statistics.
use std::time::Duration;

pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// In microseconds.
pub fn percentile(times: &[Duration], percent: usize) -> f64 {
    let mut times = times.to_vec();
    times.sort_unstable();
    times[(times.len() - 1) * percent / 100].as_nanos() as f64 / 1000.0
}

/// A goal of the benchmark.
pub struct Goal {
    name: &'static str,
    measured: f64,
    must: f64,
    target: f64,
    is_upper: bool,
}

impl Goal {
    pub fn least(name: &'static str, measured: f64, must: f64, target: f64) -> Self {
        Self { name, measured, must, target, is_upper: false }
    }

    pub fn most(name: &'static str, measured: f64, must: f64, target: f64) -> Self {
        Self { name, measured, must, target, is_upper: true }
    }
}

impl core::fmt::Display for Goal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { name, measured, must, target, is_upper } = self;
        let (sign, reaches) =
            if *is_upper { ("≤", *measured <= *must) } else { ("≥", *measured >= *must) };
        let meets = if *is_upper { *measured <= *target } else { *measured >= *target };
        let verdict = if meets {
            "target"
        } else if reaches {
            "must"
        } else {
            "missed"
        };
        write!(f, "| {name} | {measured:.2} | {sign} {must} | {sign} {target} | {verdict} |")
    }
}
