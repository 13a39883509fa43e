//! The output of terminals, with classes for its styles.
use crate::markdown::controls::visible;
use pulldown_cmark::{Event, html};
use style::Style;
use vte::{Params, Parser, Perform};

mod style;

/// Maximum number of parts with a style. Later parts have none, since a style takes a few bytes of
/// output and many of HTML.
const MAX_STYLED: usize = 20_000;

/// Returns the output as a `pre` element, as a terminal of any width shows it: later text replaces
/// that at its place.
pub(crate) fn html(output: &str) -> String {
    let mut screen = Screen::default();
    Parser::new().advance(&mut screen, output.as_bytes());
    screen.html()
}

type Line = Vec<(char, Style)>;

/// The output so far. The cursor is never behind the end of its line, so text takes no more room
/// than its bytes.
#[derive(Default)]
struct Screen {
    above: Vec<Line>,
    line: Line,
    /// The lines below the cursor, the last one first.
    below: Vec<Line>,
    column: usize,
    style: Style,
}

impl Screen {
    fn html(mut self) -> String {
        self.below.reverse();
        let lines = self.above.into_iter().chain([self.line]).chain(self.below);
        let mut styled = 0;
        // A parser of HTML removes the first line feed.
        let mut html = String::from("<pre>");
        for line in lines {
            html.push('\n');
            for part in line.chunk_by(|(_, one), (_, next)| one == next) {
                let style = part.first().map(|(_, style)| *style).unwrap_or_default();
                styled += usize::from(style != Style::default());
                let style = if styled > MAX_STYLED { Style::default() } else { style };
                let text: String = part.iter().map(|(character, _)| character).collect();
                write_part(&mut html, &text, style);
            }
        }
        html.push_str("</pre>\n");
        html
    }

    fn up(&mut self) {
        if let Some(above) = self.above.pop() {
            self.below.push(std::mem::replace(&mut self.line, above));
        }
    }

    fn down(&mut self) {
        if let Some(below) = self.below.pop() {
            self.above.push(std::mem::replace(&mut self.line, below));
        }
    }
}

impl Perform for Screen {
    fn print(&mut self, character: char) {
        let cell = (character, self.style);
        match self.line.get_mut(self.column) {
            Some(old) => *old = cell,
            None => self.line.push(cell),
        }
        self.column += 1;
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                let next = self.below.pop().unwrap_or_default();
                self.above.push(std::mem::replace(&mut self.line, next));
                self.column = 0;
            }
            b'\r' => self.column = 0,
            b'\t' => self.print('\t'),
            8 => self.column = self.column.saturating_sub(1),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, marks: &[u8], is_cut: bool, action: char) {
        if is_cut || !marks.is_empty() {
            return;
        }
        let number = params.iter().next().and_then(|values| values.first()).copied().unwrap_or(0);
        let count = usize::from(number.max(1));
        match (action, number) {
            ('m', _) => self.style.apply(params),
            ('A' | 'F', _) => (0..count.min(self.above.len())).for_each(|_| self.up()),
            ('B' | 'E', _) => (0..count.min(self.below.len())).for_each(|_| self.down()),
            ('C', _) => self.column = self.column.saturating_add(count),
            ('D', _) => self.column = self.column.saturating_sub(count),
            ('G', _) => self.column = count - 1,
            ('J' | 'K', 0) => self.line.truncate(self.column),
            ('K', 2) => self.line.clear(),
            _ => {}
        }
        if matches!(action, 'E' | 'F') {
            self.column = 0;
        }
        if action == 'J' && number == 0 {
            self.below.clear();
        }
        self.column = self.column.min(self.line.len());
    }
}

fn write_part(html: &mut String, text: &str, style: Style) {
    let classes = style.classes();
    if !classes.is_empty() {
        html.push_str(&format!("<span class=\"{classes}\">"));
    }
    html::push_html(html, std::iter::once(Event::Text(visible(text).into_owned().into())));
    if !classes.is_empty() {
        html.push_str("</span>");
    }
}
