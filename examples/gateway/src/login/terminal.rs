//! The program of an agent in a terminal: what the screen shows goes out, and keys come in.
use crate::hub::AgentCommand;
use core::num::NonZeroU16;
use core::time::Duration;
use host::pty::{Pty, PtyInput};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Rows of the screen.
const ROWS: NonZeroU16 = NonZeroU16::new(40).unwrap();

/// Columns of the screen.
const COLUMNS: NonZeroU16 = NonZeroU16::new(100).unwrap();

/// Bytes of output that are read at once.
const READ_SIZE: usize = 16 * 1024;

/// Timeout for the program to read its input.
const WRITE_TIME: Duration = Duration::from_secs(1);

/// Time for which the output of an ended program is read.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Runs the program until it ends. `show` receives the text of the screen after each change.
///
/// # Errors
/// The program cannot be run, or fails.
pub(crate) async fn run(
    command: AgentCommand,
    mut keys: mpsc::Receiver<String>,
    show: impl Fn(String),
) -> Result<(), String> {
    let AgentCommand { words, secrets, variables } = command;
    let spawned = Pty::spawn(&words, &secrets, &variables, (ROWS.get(), COLUMNS.get()));
    let Pty { mut process, mut output, mut input } =
        spawned.map_err(|error| format!("cannot run the program: {error}"))?;
    let mut screen = vt100::Parser::new_with_callbacks(ROWS, COLUMNS, 0, Replies::default());
    let mut buffer = vec![0; READ_SIZE];
    let mut reads = true;
    loop {
        tokio::select! {
            read = output.read(&mut buffer), if reads => {
                reads = read > 0;
                screen.process(buffer.get(..read).unwrap_or_default());
                let replies = std::mem::take(&mut screen.callbacks_mut().0);
                if !replies.is_empty() {
                    enter(&mut input, &replies).await;
                }
                show(screen.screen().contents());
            }
            Some(text) = keys.recv() => enter(&mut input, &text).await,
            () = process.exited() => break,
        }
    }
    while reads && let Ok(read @ 1..) = timeout(LAST_WORDS, output.read(&mut buffer)).await {
        screen.process(buffer.get(..read).unwrap_or_default());
    }
    show(screen.screen().contents());
    match process.stop().await {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the program ended with {status}")),
        Err(error) => Err(format!("the end of the program is unknown: {error}")),
    }
}

/// Enters a text. A program that does not read loses it, so that its output goes on.
async fn enter(input: &mut PtyInput, text: &str) {
    if !matches!(timeout(WRITE_TIME, input.write(text.as_bytes())).await, Ok(Ok(()))) {
        tracing::debug!("the program of a login does not read its input");
    }
}

/// Replies of the terminal to requests of the program, without which some wait.
///
/// Spec: [ECMA-48, 8.3.24 and
/// 8.3.35](https://ecma-international.org/publications-and-standards/standards/ecma-48/)
#[derive(Debug, Default)]
struct Replies(String);

impl vt100::Callbacks for Replies {
    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        prefix: Option<u8>,
        _: Option<u8>,
        parameters: &[&[u16]],
        letter: char,
    ) {
        match (prefix, parameters, letter) {
            // The position of the cursor.
            (None, [[6]], 'n') => {
                let (row, column) = screen.cursor_position();
                self.0 += &format!("\u{1b}[{};{}R", row + 1, column + 1);
            }
            // The state of the terminal: ready.
            (None, [[5]], 'n') => self.0 += "\u{1b}[0n",
            // The kind of terminal: a VT102.
            (None, [] | [[0]], 'c') => self.0 += "\u{1b}[?6c",
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_replies_to_programs() {
        let mut screen = vt100::Parser::new_with_callbacks(ROWS, COLUMNS, 0, Replies::default());
        screen.process(b"one\r\ntw\x1b[6n\x1b[5n\x1b[c\x1b[?1049n");
        assert_eq!(screen.callbacks().0, "\u{1b}[2;3R\u{1b}[0n\u{1b}[?6c");
        assert_eq!(screen.screen().contents(), "one\ntw");
    }
}
