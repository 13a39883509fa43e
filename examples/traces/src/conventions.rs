//! Options for the interpretation of messages: the release of the conventions, and choices that
//! they leave open.

use crate::PROGRAM;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use core::error::Error;
use regex::{NoExpand, Regex};
use semconv_map::content::{Capture, Gate, Redaction};
use semconv_map::extract::Extractors;
use semconv_map::policy::{FinishReasonPolicy, ProviderPolicy, ToolTypePolicy, UsagePolicy};
use semconv_map::{Policy, Profile};
use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use traces::otlp::{capture_of_environment, profile_of_environment};

/// Options for the interpretation of messages.
#[derive(Debug, Args)]
pub(crate) struct ReadingOptions {
    /// Release of the semantic conventions [env:
    /// OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental for genai-dev] [default: v1.41]
    #[arg(long, value_name = "RELEASE")]
    profile: Option<Release>,

    /// Choice where the conventions leave one; may be repeated, the last one takes precedence
    #[arg(long, value_name = "CHOICE")]
    policy: Vec<Choice>,

    /// Provider of the agent; overrides `--policy`
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    provider: Option<String>,

    /// Read further places of tokens, cost, models, tool names and exit codes from FILE
    #[arg(long, value_name = "FILE")]
    extract: Option<PathBuf>,

    /// Record content: messages, arguments, results, paths and commands, which are otherwise
    /// omitted [env: OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT]
    #[arg(
        long,
        value_name = "WHERE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "span"
    )]
    record_content: Option<Content>,

    /// Replace matches of the regular expression in recorded content by `[redacted]`; may be
    /// repeated
    #[arg(long, value_name = "REGEX")]
    pub(crate) redact: Vec<Regex>,
}

impl ReadingOptions {
    /// Returns the release of the conventions.
    pub(crate) fn profile(&self) -> Profile {
        self.profile.map_or_else(profile_of_environment, Release::profile)
    }

    /// Returns the tracing policy.
    pub(crate) fn policy(&self) -> Policy {
        let mut policy = Policy::default();
        policy.profile = self.profile();
        self.policy.iter().for_each(|choice| choice.apply(&mut policy));
        if let Some(name) = &self.provider {
            policy.provider = ProviderPolicy::Fixed(Cow::Owned(name.clone()));
        }
        if let Some(file) = &self.extract {
            policy.extractors = extractors(file);
        }
        let of_environment = || capture_of_environment(PROGRAM);
        policy.content = self.record_content.map_or_else(of_environment, Content::capture);
        policy.redaction = redaction(&self.redact);
        policy.network_transport = Some(Cow::Borrowed("pipe"));
        policy
    }
}

/// A release of the semantic conventions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Release {
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
    fn profile(self) -> Profile {
        match self {
            Self::V1_39 => Profile::V1_39,
            Self::V1_41 => Profile::V1_41,
            Self::GenaiDev => Profile::GENAI_DEV,
        }
    }
}

/// A choice that the conventions leave open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// Finish reasons of the conventions (default)
    #[value(name = "finish-reason=semconv")]
    FinishReasonSemconv,
    /// Finish reasons of the agent
    #[value(name = "finish-reason=verbatim")]
    FinishReasonVerbatim,
    /// The provider is that of the model or the agent in the conventions, else the agent name
    /// (default)
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
    fn apply(self, policy: &mut Policy) {
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
enum Content {
    /// On spans
    Span,
    /// In span events
    Event,
    /// On spans and in span events
    Both,
}

impl Content {
    fn capture(self) -> Capture {
        match self {
            Self::Span => Capture::Span,
            Self::Event => Capture::Event,
            Self::Both => Capture::SpanAndEvent,
        }
    }
}

/// Reads a file of extractors. If it is invalid, only the built-in extractors are used, because the
/// session has priority.
fn extractors(file: &Path) -> Extractors {
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
fn redaction(patterns: &[Regex]) -> Option<Redaction> {
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
