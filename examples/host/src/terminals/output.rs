//! The output of a command: its end, as bytes and as text.

/// The last bytes that a command has written, up to a limit.
#[derive(Debug)]
pub(super) struct Output {
    bytes: Vec<u8>,
    limit: usize,
    truncated: bool,
}

impl Output {
    pub(super) fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), limit, truncated: false }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Not with each piece, because the rest moves.
        if self.bytes.len() > self.limit.saturating_mul(2).max(4096) {
            self.cut();
        }
    }

    /// Returns the bytes that are kept.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn cut(&mut self) {
        let surplus = self.bytes.len().saturating_sub(self.limit);
        if surplus > 0 {
            self.bytes.drain(..surplus);
            self.truncated = true;
        }
    }

    /// Returns them as text within the limit, and whether there were more. An incomplete character
    /// at the end is left out until the command has ended.
    pub(super) fn text(&mut self, has_ended: bool) -> (String, bool) {
        self.cut();
        let whole = if has_ended { self.bytes.len() } else { whole_characters(&self.bytes) };
        let kept = self.bytes.get(..whole).unwrap_or_default();
        // A cut within a character leaves the rest of it at the start.
        let torn = kept.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
        let kept = if self.truncated { kept.get(torn..).unwrap_or_default() } else { kept };
        let mut text = String::from_utf8_lossy(kept).into_owned();
        let surplus = text.len().saturating_sub(self.limit);
        if surplus > 0 {
            // Invalid bytes are longer as text.
            let from = (surplus..=text.len()).find(|at| text.is_char_boundary(*at));
            text.drain(..from.unwrap_or(text.len()));
            self.truncated = true;
        }
        (text, self.truncated)
    }
}

/// Returns the number of bytes before an incomplete character at the end.
fn whole_characters(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(3);
    let tail = bytes.get(from..).unwrap_or_default();
    let lead = tail.iter().rposition(|byte| *byte & 0xc0 == 0xc0);
    let torn = lead.and_then(|lead| Some((lead, str::from_utf8(tail.get(lead..)?).err()?)));
    match torn {
        Some((lead, error)) if error.error_len().is_none() => from + lead,
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_character_that_is_not_whole_is_left_out_until_it_is() {
        let mut output = Output::new(100);
        output.push("h\u{e9}".as_bytes());
        output.push(&"\u{20ac}".as_bytes()[..2]);
        assert_eq!(output.text(false), ("h\u{e9}".to_owned(), false));
        assert_eq!(output.text(true), ("h\u{e9}\u{fffd}".to_owned(), false));
        output.push(&"\u{20ac}".as_bytes()[2..]);
        assert_eq!(output.text(false), ("h\u{e9}\u{20ac}".to_owned(), false));
        output.push(b"\xff");
        assert_eq!(output.text(false), ("h\u{e9}\u{20ac}\u{fffd}".to_owned(), false));
    }

    proptest! {
        /// The output is the end of what was written, cut between characters, and no longer than
        /// the limit.
        #[test]
        fn output_is_the_end_of_what_was_written(
            text in "[a-z\u{e9}\u{20ac}\u{1f600}]{0,60}",
            piece in 1..9_usize,
            limit in 0..80_usize,
        ) {
            let mut output = Output::new(limit);
            for piece in text.as_bytes().chunks(piece) {
                output.push(piece);
                let _so_far = output.text(false);
            }
            let (kept, truncated) = output.text(true);
            prop_assert!(kept.len() <= limit);
            prop_assert!(text.ends_with(&kept));
            prop_assert_eq!(truncated, kept.len() < text.len());
            // Not a character more could be kept.
            let before = text.strip_suffix(&kept).and_then(|before| before.chars().next_back());
            prop_assert!(before.is_none_or(|before| kept.len() + before.len_utf8() > limit));
        }

        /// Bytes that are no text do not make more of it than the limit.
        #[test]
        fn what_is_no_text_is_bounded(bytes in prop::collection::vec(any::<u8>(), 0..200), limit in 0..80_usize) {
            let mut output = Output::new(limit);
            bytes.chunks(7).for_each(|piece| output.push(piece));
            prop_assert!(output.text(false).0.len() <= limit);
            prop_assert!(output.text(true).0.len() <= limit);
        }
    }
}
