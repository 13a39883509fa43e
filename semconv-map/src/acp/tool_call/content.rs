//! Content of a tool call: title, locations, arguments and result.
use super::{MAX_LOCATIONS, ToolReport, set_tool_content};
use crate::attribute::{clip, cut};
use crate::content::ContentKind;
use crate::details::{Details, redacted_list};
use crate::json::string;
use crate::keys;
use crate::messages::{MAX_PATH_BYTES, location, tool_content};
use crate::policy::Policy;
use acp_types::v1::tool_calls::ToolCallLocation;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::{array_items, find_member, wire};
use serde_json::value::RawValue;

/// Attributes that are subject to content capture or to a gate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content {
    title: Option<String>,
    locations: Option<Vec<String>>,
    arguments: Option<String>,
    result: Option<String>,
    produced: Option<String>,
    /// Terminals that the tool call shows.
    pub(super) terminals: Vec<String>,
    /// Output of a command.
    pub(super) output: Option<String>,
}

impl Content {
    /// Returns whether the policy records any of it.
    pub(crate) fn is_wanted(policy: &Policy) -> bool {
        policy.records_content() || policy.records(policy.titles) || policy.records(policy.paths)
    }

    pub(super) fn update(&mut self, policy: &Policy, report: &ToolReport<'_>) {
        if let Some(title) = report.title.as_ref().filter(|_| policy.records(policy.titles)) {
            self.title = Some(cut(title, MAX_TITLE_BYTES).into());
        }
        let locations = report.locations.filter(|_| policy.records(policy.paths));
        if let Some(locations) = locations.and_then(|json| places(json.get())) {
            self.locations = Some(locations);
        }
        if !policy.records_content() {
            return;
        }
        let read =
            |kind, json: Option<&RawValue>| json.map(|json| tool_content(policy, kind, json.get()));
        let arguments = read(ContentKind::ToolArguments, report.raw_input);
        self.arguments = arguments.or(self.arguments.take());
        let result = read(ContentKind::ToolResult, report.raw_output);
        self.result = result.or(self.result.take());
        if let Some(output) = &report.facts.output {
            let before = self.output.get_or_insert_default();
            let room = policy.content_limits.tool_bytes.saturating_sub(before.len());
            before.push_str(cut(output, room));
        }
        if let Some(content) = report.content {
            self.terminals = shown_terminals(content.get());
        }
        if self.result.is_none() {
            let produced = report.content.filter(|content| content.get() != "[]");
            let produced = read(ContentKind::ToolResult, produced);
            self.produced = produced.or(self.produced.take());
        }
    }

    pub(super) fn details(self, policy: &Policy, exit_code: Option<i64>) -> Details {
        let mut details = Details::default();
        if let Some(title) = self.title {
            let title = policy.redacted(ContentKind::Title, title);
            details.set(policy, policy.titles, keys::ACP_TOOL_TITLE, title);
        }
        if let Some(locations) = self.locations {
            let locations = redacted_list(policy, ContentKind::Path, locations.into_iter());
            details.set(policy, policy.paths, keys::ACP_TOOL_LOCATIONS, locations);
        }
        let of_command = || {
            let mut result = serde_json::Map::new();
            result.insert("output".into(), self.output?.into());
            if let Some(code) = exit_code {
                result.insert("exit_code".into(), code.into());
            }
            let result = serde_json::Value::Object(result).to_string();
            Some(tool_content(policy, ContentKind::ToolResult, &result))
        };
        let result = self.result.or_else(of_command).or(self.produced);
        set_tool_content(policy, &mut details, self.arguments, result);
        details
    }
}

/// Returns the ids of the terminals in the content of a tool call.
fn shown_terminals(content: &str) -> Vec<String> {
    let ids = array_items(content).filter_map(|item| string(find_member(item, &["terminalId"])?));
    ids.take(MAX_TERMINALS).map(|id| clip(&id)).collect()
}

fn places(json: &str) -> Option<Vec<String>> {
    if !json.starts_with('[') {
        return None;
    }
    let mut places = Vec::new();
    for place in array_items(json) {
        let place: ToolCallLocation = wire::decode(place).ok()?;
        if places.len() < MAX_LOCATIONS {
            places.push(location(&place.path, place.line));
        }
    }
    Some(places)
}

/// Maximum number of terminals of a tool call with recorded output.
const MAX_TERMINALS: usize = 8;

/// Maximum length of a title in bytes.
const MAX_TITLE_BYTES: usize = MAX_PATH_BYTES;
