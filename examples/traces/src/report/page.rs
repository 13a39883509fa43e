//! The HTML page of a report.

use super::RecordedSession;
use super::conversation::{Conversation, Item, ItemKind};
use super::look::{DETAILS, Detail, LEAST, Look, MAX_PAGE, Privacy};
use super::overview;
use super::session::{Kind, Session, Span};
use super::talk::{MAX_LABEL, Talks};
use super::text::{escaped, grouped, span_of_time, utc};
use super::totals;
use super::waterfall::Waterfalls;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use core::fmt::{self, Write};
use core::time::Duration;
use semconv_map::{Counters, keys};
use sha2::{Digest, Sha256};

/// The script of a page, which adds the search and the updates of a live page. The page is complete
/// without it.
const SCRIPT: &str = include_str!("page.js");

pub(crate) const STYLE: &str = include_str!("page.css");

/// A page that a server updates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Live<'a> {
    /// Seconds between updates.
    pub(crate) seconds: u32,
    /// Entity tag of the page.
    pub(crate) tag: &'a str,
    /// Query of the page with the lines, to which the number of a line is appended.
    pub(crate) lines: &'a str,
    /// Styles of the links.
    pub(crate) style: &'a str,
    /// Links to the other pages, as HTML.
    pub(crate) navigation: &'a str,
}

/// Returns the policy of a page: its own script and styles, and no other resources.
///
/// Spec: [Content Security Policy Level 3](https://www.w3.org/TR/CSP3/)
pub(crate) fn security_policy() -> String {
    let hash = BASE64_STANDARD.encode(Sha256::digest(SCRIPT));
    format!(
        "default-src 'none'; script-src 'sha256-{hash}'; style-src 'unsafe-inline'; connect-src 'self'; \
         base-uri 'none'; form-action 'self'"
    )
}

/// Creates the page of a session, with as much detail as fits into [`MAX_PAGE`].
pub(crate) fn of(reading: &RecordedSession, privacy: &Privacy, live: Option<Live<'_>>) -> String {
    let mut page = String::new();
    let limited = DETAILS.into_iter().map(|detail| (detail, MAX_PAGE));
    for (detail, max_page) in limited.chain([(LEAST, usize::MAX)]) {
        page.clear();
        let mut writer = Page { reading, look: Look { privacy, detail, max_page }, live };
        // Fails only if the page becomes too large.
        if writer.write(&mut page).is_ok() {
            break;
        }
    }
    page
}

/// Writer of a page.
struct Page<'a> {
    reading: &'a RecordedSession,
    look: Look<'a>,
    live: Option<Live<'a>>,
}

/// A part of a page: a turn, or requests outside of turns.
#[derive(Default)]
struct Section<'a> {
    start: Duration,
    /// Number and prompt of the turn.
    turn: Option<(usize, &'a str)>,
    /// Index of the session of the turn.
    session: Option<usize>,
    items: Vec<&'a Item>,
    roots: Vec<usize>,
}

impl<'a> Page<'a> {
    fn session(&self) -> &'a Session {
        &self.reading.session
    }

    fn conversation(&self) -> &'a Conversation {
        &self.reading.conversation
    }

    fn write(&mut self, page: &mut String) -> fmt::Result {
        let title = format!("Session with {}", self.agent().0);
        let (seconds, tag) = self.live.map_or((0, ""), |live| (live.seconds, live.tag));
        write!(
            page,
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta name=\"referrer\" content=\"no-referrer\">\
             <title>{title}</title><style>{STYLE}{style}</style></head>\
             <body data-live=\"{seconds}\" data-tag=\"{tag}\">\n{navigation}",
            policy = escaped(&security_policy()),
            title = escaped(&title),
            tag = escaped(tag),
            style = self.live.map_or("", |live| live.style),
            navigation = self.live.map_or("", |live| live.navigation),
        )?;
        let mut sections = self.sections();
        let omitted = sections.len().saturating_sub(self.look.detail.turns);
        if omitted > 0 {
            let first = self.look.detail.turns / 2;
            sections.drain(first..first + omitted);
        }
        self.header(page, &title)?;
        page.write_str("<div id=\"parts\">")?;
        totals::write(page, self.session(), &self.conversation().sessions)?;
        let turns: Vec<(&Span, usize)> =
            sections.iter().filter_map(|section| self.span_of(section)).collect();
        overview::write(page, self.session(), &turns)?;
        page.write_str(
            "</div><div class=\"find\" role=\"search\"><input id=\"search\" type=\"search\" \
             placeholder=\"Search\" aria-label=\"Search in this session\" hidden>\
             <output id=\"found\"></output></div>\n<main>\n",
        )?;
        let lines = self.live.map(|live| live.lines);
        let mut talks =
            Talks::new(self.conversation(), self.session(), self.look, lines, sections.len());
        let mut waterfalls = Waterfalls::new(self.session(), self.look, sections.len());
        for section in &sections {
            self.section(page, section, &mut talks, &mut waterfalls)?;
        }
        page.write_str("</main>\n")?;
        self.footer(page, [omitted, talks.omitted(), waterfalls.omitted])?;
        writeln!(page, "<script>{SCRIPT}</script></body></html>")?;
        self.look.check_size(page)
    }

    /// Returns the agent's name and version.
    fn agent(&self) -> (String, String) {
        let of_turn = || {
            let mut turns = self.session().of_kind(Kind::Turn);
            turns.next().and_then(|turn| turn.text(keys::GEN_AI_AGENT_NAME))
        };
        self.conversation()
            .agent
            .clone()
            .unwrap_or_else(|| (of_turn().unwrap_or_else(|| "an agent".to_owned()), String::new()))
    }

    fn header(&self, page: &mut String, title: &str) -> fmt::Result {
        let session = self.session();
        write!(
            page,
            "<header><h1>{title}</h1><p>{start}, {length}</p><dl class=\"facts\">",
            title = escaped(title),
            start = utc(session.start()),
            length = span_of_time(session.end().saturating_sub(session.start())),
        )?;
        let mut facts = Vec::new();
        let latest = |key| session.of_kind(Kind::Turn).filter_map(|turn| turn.text(key)).last();
        let version = Some(self.agent().1).filter(|version| !version.is_empty());
        let version = version.or_else(|| latest(keys::GEN_AI_AGENT_VERSION));
        let model = latest(keys::GEN_AI_RESPONSE_MODEL);
        let model = model.or_else(|| latest(keys::GEN_AI_REQUEST_MODEL));
        facts.extend(version.map(|version| ("Version", escaped(&version))));
        facts.extend(model.map(|model| ("Model", escaped(&model))));
        for talk in &self.conversation().sessions {
            let title = talk.state.info().title.value().filter(|_| self.look.shows_titles());
            let title = title.map(|title| self.look.label(title, MAX_LABEL) + ", ");
            let state = match self.live {
                Some(_) => format!(" ({})", talk.waits_for()),
                None => String::new(),
            };
            let id = self.look.label(&talk.id, MAX_LABEL);
            facts.push(("Session", format!("{}{id}{state}", title.unwrap_or_default())));
        }
        for (name, value) in facts {
            write!(page, "<div><dt>{name}</dt><dd>{value}</dd></div>")?;
        }
        page.write_str("</dl>")?;
        if !self.look.shows_content() {
            page.write_str(
                "<p class=\"none\">Texts, arguments and results are not shown. \
                 <code>--record-content</code> shows them.</p>",
            )?;
        }
        page.write_str("</header>\n")
    }

    /// Returns the turns, and the requests between them, in order. A turn has the items of its
    /// session up to the next one of the same session, or up to the history of the session when it
    /// is loaded.
    fn sections(&self) -> Vec<Section<'a>> {
        let mut sections: Vec<Section<'a>> = Vec::new();
        let mut of_session = vec![None; self.conversation().sessions.len()];
        let mut of_start: Vec<(Duration, usize)> = Vec::new();
        let mut roots = self.session().roots.iter().copied().peekable();
        let root = |at: usize| self.session().spans.get(at);
        let is_before = |at: usize, time| root(at).is_some_and(|span| span.start < time);
        for item in &self.conversation().items {
            while let Some(at) = roots.next_if(|at| is_before(*at, item.time)) {
                self.add_root(&mut sections, &of_start, at);
            }
            if let ItemKind::Turn(number, prompt) = &item.kind {
                of_start.push((item.time, sections.len()));
                if let Some(of) = item.session.and_then(|session| of_session.get_mut(session)) {
                    *of = Some(sections.len());
                }
                let turn = Some((*number, prompt.as_str()));
                let start = item.time;
                let session = item.session;
                sections.push(Section { start, turn, session, ..Section::default() });
                continue;
            }
            if let ItemKind::Load = item.kind
                && let Some(of) = item.session.and_then(|session| of_session.get_mut(session))
            {
                *of = None;
            }
            let turn = item.session.and_then(|session| of_session.get(session).copied().flatten());
            let at = turn.unwrap_or_else(|| requests_at_end(&mut sections, item.time));
            if let Some(section) = sections.get_mut(at) {
                section.items.push(item);
            }
        }
        for at in roots {
            self.add_root(&mut sections, &of_start, at);
        }
        sections
    }

    /// Adds a span to the turn that began at the same time, or to the requests between turns.
    fn add_root(
        &self,
        sections: &mut Vec<Section<'a>>,
        of_start: &[(Duration, usize)],
        root: usize,
    ) {
        let Some(span) = self.session().spans.get(root) else { return };
        let turns = if span.kind() == Kind::Turn { of_start } else { &[] };
        let turn = turns.iter().rev().find(|(start, at)| {
            *start == span.start
                && sections.get(*at).is_some_and(|section| section.roots.is_empty())
        });
        let at = turn.map_or_else(|| requests_at_end(sections, span.start), |(_, at)| *at);
        if let Some(section) = sections.get_mut(at) {
            section.roots.push(root);
        }
    }

    /// Returns the span of a turn, and the number of the turn.
    fn span_of(&self, section: &Section<'a>) -> Option<(&'a Span, usize)> {
        Some((self.session().spans.get(*section.roots.first()?)?, section.turn?.0))
    }

    fn section(
        &self,
        page: &mut String,
        section: &Section<'a>,
        talks: &mut Talks<'_>,
        waterfalls: &mut Waterfalls<'_>,
    ) -> fmt::Result {
        let span = self.span_of(section).map(|(span, _)| span);
        let (id, title) = match section.turn {
            Some((number, prompt)) => {
                (format!(" id=\"turn-{number}\""), self.title(number, prompt, span))
            }
            None => (String::new(), "Session requests".to_owned()),
        };
        let session = self.session();
        let after = span_of_time(section.start.saturating_sub(session.start()));
        let extent = session.extent(&section.roots);
        let length =
            extent.map(|(start, end)| format!(", {}", span_of_time(end.saturating_sub(start))));
        let talk = section.session.and_then(|at| self.conversation().sessions.get(at));
        let talk = talk.filter(|_| self.conversation().sessions.len() > 1);
        let talk = talk.map(|talk| format!("session {}, ", self.look.label(&talk.id, MAX_LABEL)));
        writeln!(
            page,
            "<section{id}><h2>{title}<span>{talk}{after} after the start{length}</span></h2><div class=\"columns\">",
            talk = talk.unwrap_or_default(),
            length = length.unwrap_or_default(),
        )?;
        if !section.items.is_empty() {
            page.write_str("<div class=\"talk\">")?;
            talks.write(page, &section.items)?;
            page.write_str("</div>")?;
        }
        waterfalls.write(page, &section.roots)?;
        page.write_str("</div></section>\n")?;
        self.look.check_size(page)
    }

    /// Returns the title of a turn: its prompt or, without content, its end.
    fn title(&self, number: usize, prompt: &str, span: Option<&Span>) -> String {
        let reason = span.and_then(|span| {
            span.text(keys::ACP_STOP_REASON).or_else(|| span.text(keys::ERROR_TYPE))
        });
        let end = escaped(reason.as_deref().unwrap_or("no end"));
        if self.look.shows_content() && !prompt.trim().is_empty() {
            format!("Turn {number}: {}", self.look.label(prompt, MAX_LABEL))
        } else {
            format!("Turn {number}: {end}")
        }
    }

    fn footer(&self, page: &mut String, omitted: [usize; 3]) -> fmt::Result {
        let Counters { invalid_lines, undecodable, dropped_spans, dropped_events, .. } =
            self.reading.tracker.counters();
        let [turns, items, spans] = omitted.map(|count| count as u64);
        page.write_str("<footer><p>")?;
        for (count, what) in [
            (invalid_lines, "lines are not messages"),
            (undecodable, "messages do not match their methods"),
            (dropped_spans, "spans exceeded a limit and are missing"),
            (dropped_events, "events exceeded a limit and are missing"),
            (turns, "turns do not fit into this page"),
            (items, "parts of the conversation do not fit into this page"),
            (spans, "spans do not fit into this page"),
        ] {
            if count > 0 {
                write!(page, "{} {what}. ", grouped(i64::try_from(count).unwrap_or(i64::MAX)))?;
            }
        }
        let Detail { text, attributes, .. } = self.look.detail;
        if !attributes {
            write!(
                page,
                "The session is large: texts have at most {text} bytes, and only failed spans have attributes. "
            )?;
        }
        writeln!(page, "Created by acp-traces {}.</p></footer>", env!("CARGO_PKG_VERSION"))
    }
}

/// Returns the index of the last section, which is added unless it is one of requests.
fn requests_at_end(sections: &mut Vec<Section<'_>>, start: Duration) -> usize {
    if sections.last().is_none_or(|section| section.turn.is_some()) {
        sections.push(Section { start, ..Section::default() });
    }
    sections.len() - 1
}
