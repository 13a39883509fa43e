//! Common parts of the pages.

use crate::report::{STYLE, escaped};
use core::fmt::{self, Display};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Styles of the pages besides those of a report.
pub(super) const VIEW_STYLE: &str = include_str!("view.css");

/// Address of a page, for an attribute.
pub(super) struct Address(String);

impl Address {
    /// Returns the address of a session.
    pub(super) fn session(name: &str) -> Self {
        Self(format!("/session?file={}", encoded(name)))
    }

    /// Returns the address of the lines of a transcript, to which the number of a line is appended.
    pub(super) fn lines(name: &str) -> Self {
        Self(format!("/lines?file={}&amp;from=", encoded(name)))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn encoded(text: &str) -> impl Display {
    utf8_percent_encode(text, NON_ALPHANUMERIC)
}

/// Returns the links to the other pages: for a transcript, also to its lines, with the number of
/// its findings.
pub(super) fn navigation(transcript: Option<(&str, usize)>) -> String {
    let of_transcript = transcript.map(|(name, findings)| {
        let findings = match findings {
            0 => String::new(),
            1 => " (1 finding)".to_owned(),
            many => format!(" ({many} findings)"),
        };
        let session = Address::session(name);
        let lines = Address::lines(name);
        let name = escaped(name);
        format!(
            "<a href=\"{session}\">Session</a><a href=\"{lines}1\">Lines{findings}</a>\
             <form action=\"/compare\"><input type=\"hidden\" name=\"a\" value=\"{name}\">\
             <button>Compare…</button></form>"
        )
    });
    format!(
        "<nav class=\"site\"><a href=\"/\">Sessions</a>{}<form action=\"/search\" role=\"search\">\
         <input type=\"search\" name=\"q\" placeholder=\"Search all sessions\" aria-label=\"Search all sessions\">\
         </form></nav>\n",
        of_transcript.unwrap_or_default()
    )
}

/// Returns a page with a title and a body.
pub(super) fn document(title: &str, navigation: &str, body: &str) -> String {
    document_with("", title, navigation, body)
}

/// Returns a page that the browser requests again after a number of seconds.
pub(super) fn refreshed(seconds: u32, title: &str, navigation: &str, body: &str) -> String {
    let refresh = format!("<meta http-equiv=\"refresh\" content=\"{seconds}\">");
    document_with(&refresh, title, navigation, body)
}

fn document_with(head: &str, title: &str, navigation: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         {head}<title>{title}</title><style>{STYLE}{VIEW_STYLE}</style></head><body>\n{navigation}\
         <header><h1>{title}</h1></header>\n<main>{body}</main></body></html>\n"
    )
}

/// Returns the page of an error.
pub(super) fn error(message: &str) -> String {
    document("Not available", &navigation(None), &format!("<p>{}</p>", escaped(message)))
}
