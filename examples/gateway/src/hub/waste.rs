//! Output of an agent that nothing can use. An agent that goes on writing it is ended.
use std::time::Duration;
use tokio::time::Instant;

/// Maximum number of useless lines in [`WINDOW`].
const MAX_LINES: u64 = 10_000;

/// Period of [`MAX_LINES`].
const WINDOW: Duration = Duration::from_secs(10);

/// Maximum number of bytes without a line end. A shorter line that exceeds the limit of messages is
/// only dropped.
const MAX_LINE: usize = 64 * 1024 * 1024;

/// The useless output of one connection.
#[derive(Debug)]
pub(crate) struct Waste {
    began: Instant,
    lines: u64,
    /// Bytes since the last line end.
    unended: usize,
}

impl Default for Waste {
    fn default() -> Self {
        Self { began: Instant::now(), lines: 0, unended: 0 }
    }
}

impl Waste {
    /// Counts lines that are invalid, or belong to no run.
    pub(crate) fn count_lines(&mut self, lines: u64) {
        if self.began.elapsed() >= WINDOW {
            self.began = Instant::now();
            self.lines = 0;
        }
        self.lines = self.lines.saturating_add(lines);
    }

    /// Counts the bytes of the current line.
    pub(crate) fn count_bytes(&mut self, bytes: &[u8]) {
        self.unended = match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => bytes.len() - end - 1,
            None => self.unended.saturating_add(bytes.len()),
        };
    }

    /// Returns why the agent has to end, if it has exceeded a limit.
    pub(crate) fn excess(&self) -> Option<String> {
        if self.lines > MAX_LINES {
            let seconds = WINDOW.as_secs();
            return Some(format!(
                "the agent was ended, because it wrote more than {MAX_LINES} lines in {seconds} s that are invalid or \
                 belong to no run"
            ));
        }
        (self.unended > MAX_LINE).then(|| {
            format!("the agent was ended, because it wrote a line of more than {MAX_LINE} bytes")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn limit_of_lines_is_for_one_window() {
        let mut waste = Waste::default();
        for _ in 0..3 {
            waste.count_lines(MAX_LINES - 1);
            waste.count_lines(1);
            assert_eq!(waste.excess(), None);
            tokio::time::advance(WINDOW).await;
        }
        waste.count_lines(MAX_LINES);
        waste.count_lines(1);
        assert!(waste.excess().unwrap().contains("more than 10000 lines in 10 s"));
    }

    #[tokio::test]
    async fn line_without_end_is_limited() {
        let mut waste = Waste::default();
        let piece = vec![b'x'; MAX_LINE / 4];
        for _ in 0..4 {
            waste.count_bytes(&piece);
        }
        assert_eq!(waste.excess(), None);
        waste.count_bytes(b"x\n");
        waste.count_bytes(b"end of the line\nnext");
        assert_eq!(waste.unended, 4);
        assert_eq!(waste.excess(), None);
        for _ in 0..4 {
            waste.count_bytes(&piece);
        }
        assert!(waste.excess().is_some());
    }
}
