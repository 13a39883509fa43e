//! Release of the conventions, and choices that they leave open.

use clap::ValueEnum;
use core::error::Error;
use regex::{NoExpand, Regex};
use semconv_map::content::{Capture, Gate, Redaction};
use semconv_map::extract::Extractors;
use semconv_map::policy::{FinishReasonPolicy, ProviderPolicy, ToolTypePolicy, UsagePolicy};
use semconv_map::{Policy, Profile};
use std::fs;
use std::path::Path;

/// A release of the semantic conventions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Release {
    /// Semantic conventions v1.39.0
    #[value(name = "v1.39")]
    V1_39,
    /// Semantic conventions v1.41.1
    #[value(name = "v1.41")]
    V1_41,
    /// The GenAI conventions in development; they have no release, and names may change
    GenaiDev,
}

impl Release {
    pub(crate) fn profile(self) -> Profile {
        match self {
            Self::V1_39 => Profile::V1_39,
            Self::V1_41 => Profile::V1_41,
            Self::GenaiDev => Profile::GENAI_DEV,
        }
    }
}

/// A choice that the conventions leave open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Choice {
    /// Finish reasons of the conventions (default)
    #[value(name = "finish-reason=semconv")]
    FinishReasonSemconv,
    /// Finish reasons of the agent
    #[value(name = "finish-reason=verbatim")]
    FinishReasonVerbatim,
    /// The provider is that of the model or the agent in the conventions, else the agent name (default)
    #[value(name = "provider=known")]
    ProviderKnown,
    /// The provider is the agent name
    #[value(name = "provider=agent")]
    ProviderAgent,
    /// The provider is `acp.` followed by the agent name
    #[value(name = "provider=prefixed")]
    ProviderPrefixed,
    /// Tools have no type (default)
    #[value(name = "tool-type=omit")]
    ToolTypeOmit,
    /// The type of a tool depends on its kind
    #[value(name = "tool-type=by-kind")]
    ToolTypeByKind,
    /// The type of a tool depends on its place of execution
    #[value(name = "tool-type=by-execution")]
    ToolTypeByExecution,
    /// Token counts refer to the turn (default)
    #[value(name = "usage=per-turn")]
    UsagePerTurn,
    /// Token counts refer to the session
    #[value(name = "usage=cumulative")]
    UsageCumulative,
    /// Titles are recorded like other content (default)
    #[value(name = "titles=with-content")]
    TitlesWithContent,
    /// Titles are always recorded
    #[value(name = "titles=always")]
    TitlesAlways,
    /// Titles are never recorded
    #[value(name = "titles=never")]
    TitlesNever,
    /// Paths are recorded like other content (default)
    #[value(name = "paths=with-content")]
    PathsWithContent,
    /// Paths are always recorded
    #[value(name = "paths=always")]
    PathsAlways,
    /// Paths are never recorded, except in messages, arguments and results
    #[value(name = "paths=never")]
    PathsNever,
}

impl Choice {
    pub(crate) fn apply(self, policy: &mut Policy) {
        match self {
            Self::FinishReasonSemconv => policy.finish_reason = FinishReasonPolicy::Semconv,
            Self::FinishReasonVerbatim => policy.finish_reason = FinishReasonPolicy::Verbatim,
            Self::ProviderKnown => policy.provider = ProviderPolicy::WellKnown,
            Self::ProviderAgent => policy.provider = ProviderPolicy::AgentName,
            Self::ProviderPrefixed => policy.provider = ProviderPolicy::Prefixed,
            Self::ToolTypeOmit => policy.tool_type = ToolTypePolicy::Omit,
            Self::ToolTypeByKind => policy.tool_type = ToolTypePolicy::ByKind,
            Self::ToolTypeByExecution => policy.tool_type = ToolTypePolicy::ByExecution,
            Self::UsagePerTurn => policy.usage = UsagePolicy::PerTurn,
            Self::UsageCumulative => policy.usage = UsagePolicy::Cumulative,
            Self::TitlesWithContent => policy.titles = Gate::WithContent,
            Self::TitlesAlways => policy.titles = Gate::Always,
            Self::TitlesNever => policy.titles = Gate::Never,
            Self::PathsWithContent => policy.paths = Gate::WithContent,
            Self::PathsAlways => policy.paths = Gate::Always,
            Self::PathsNever => policy.paths = Gate::Never,
        }
    }
}

/// Where content is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Content {
    /// On spans
    Span,
    /// In span events
    Event,
    /// On spans and in span events
    Both,
}

impl Content {
    pub(crate) fn capture(self) -> Capture {
        match self {
            Self::Span => Capture::Span,
            Self::Event => Capture::Event,
            Self::Both => Capture::SpanAndEvent,
        }
    }
}

/// Reads a file of extractors. If it is invalid, only the built-in extractors are used, because the session has priority.
pub(crate) fn extractors(file: &Path) -> Extractors {
    let read = fs::read_to_string(file).map_err(|error| error.to_string());
    let read = read.and_then(|json| {
        Extractors::from_json(&json).map_err(|error| match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        })
    });
    read.unwrap_or_else(|error| {
        eprintln!("acp-traces: {}: {error}; only built-in extractors are used", file.display());
        Extractors::default()
    })
}

/// Replacement of redacted text.
const REDACTED: &str = "[redacted]";

/// Returns the redaction of recorded content, if there are patterns.
pub(crate) fn redaction(patterns: &[Regex]) -> Option<Redaction> {
    if patterns.is_empty() {
        return None;
    }
    let patterns = patterns.to_vec();
    Some(Redaction::new(move |_, text| redacted(&patterns, text)))
}

/// Replaces matches of `patterns`, in order. Returns `None` without a match.
pub(crate) fn redacted(patterns: &[Regex], text: &str) -> Option<String> {
    patterns.iter().fold(None, |redacted: Option<String>, pattern| {
        let text = redacted.as_deref().unwrap_or(text);
        let has_match = pattern.is_match(text);
        has_match.then(|| pattern.replace_all(text, NoExpand(REDACTED)).into_owned()).or(redacted)
    })
}
