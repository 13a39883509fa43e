//! Colours and effects of the text of terminals.
//!
//! Spec: [Select graphic
//! rendition](https://ecma-international.org/publications-and-standards/standards/ecma-48/),
//! section 8.3.117
use anstyle::{Ansi256Color, Color, RgbColor};
use anstyle_lossy::color_to_ansi;
use anstyle_lossy::palette::Palette;
use vte::Params;

/// Effects with the numbers that begin and end them, and their classes. Other text, such as hidden
/// text, is shown as it is.
const EFFECTS: &[(u16, u16, &str)] = &[
    (1, 22, "ansi-bold"),
    (2, 22, "ansi-dim"),
    (3, 23, "ansi-italic"),
    (4, 24, "ansi-underline"),
    (7, 27, "ansi-invert"),
    (9, 29, "ansi-strike"),
];

/// The style of a character: colours from 0 for black to 15 for bright white, and a bit for each
/// effect.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Style {
    text: Option<u8>,
    ground: Option<u8>,
    effects: u8,
}

impl Style {
    /// Changes the style by the parameters of an escape sequence.
    pub(super) fn apply(&mut self, params: &Params) {
        let mut params = params.iter();
        while let Some(param) = params.next() {
            match *param {
                [0] | [] => *self = Self::default(),
                [4, 0] => self.effect(24),
                [number @ (38 | 48)] => {
                    let mut values = params.by_ref().filter_map(|values| values.first().copied());
                    let color = values.next().and_then(|kind| color(kind, values));
                    self.color(number, color);
                }
                // With colons, a colour can begin with the number of its colour space.
                [number @ (38 | 48), 2, _, red, green, blue, ..] => {
                    self.color(number, color(2, [red, green, blue].into_iter()));
                }
                [number @ (38 | 48), kind, ref values @ ..] => {
                    self.color(number, color(kind, values.iter().copied()));
                }
                [number @ (30..=37 | 90..=97)] => self.text = basic(number - 30),
                [number @ (40..=47 | 100..=107)] => self.ground = basic(number - 40),
                [39] => self.text = None,
                [49] => self.ground = None,
                [number, ..] => self.effect(number),
            }
        }
    }

    /// Returns the classes, separated by spaces.
    pub(super) fn classes(self) -> String {
        let colors = [("fg", self.text), ("bg", self.ground)];
        let colors =
            colors.into_iter().filter_map(|(of, color)| Some(format!("ansi-{of}-{}", color?)));
        let effects = EFFECTS.iter().enumerate().filter(|(at, _)| self.effects & (1 << at) != 0);
        let effects = effects.map(|(_, (_, _, class))| (*class).to_owned());
        colors.chain(effects).collect::<Vec<_>>().join(" ")
    }

    fn color(&mut self, number: u16, color: Option<u8>) {
        let place = if number == 38 { &mut self.text } else { &mut self.ground };
        *place = color.or(*place);
    }

    fn effect(&mut self, number: u16) {
        for (at, (begin, end, _)) in EFFECTS.iter().enumerate() {
            if number == *begin {
                self.effects |= 1 << at;
            } else if number == *end {
                self.effects &= !(1 << at);
            }
        }
    }
}

/// Returns one of the 16 colours: 0 to 7, or a bright one from 60.
fn basic(number: u16) -> Option<u8> {
    u8::try_from(if number >= 60 { number - 60 + 8 } else { number }).ok()
}

/// Returns the nearest of the 16 colours, which a page can define for its background.
fn color(kind: u16, mut values: impl Iterator<Item = u16>) -> Option<u8> {
    let mut value = || u8::try_from(values.next()?).ok();
    let color = match kind {
        5 => Color::Ansi256(Ansi256Color(value()?)),
        2 => Color::Rgb(RgbColor(value()?, value()?, value()?)),
        _ => return None,
    };
    Some(Ansi256Color::from_ansi(color_to_ansi(color, Palette::default())).index())
}
