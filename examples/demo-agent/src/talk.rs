//! Words with updates only.

use crate::script::{Scene, Step};
use acp_types::v1::agent_plan::{Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus};
use acp_types::v1::content::{ContentBlock, ImageContent, ResourceLink};
use acp_types::v1::prompt_turn::{
    ContentChunk, Cost, SessionUpdate, StopReason, Usage, UsageMembers, UsageUpdate,
    UsageUpdateMembers,
};
use core::iter;
use core::time::Duration;
use jsonrpc_core::{ErrorCode, ErrorObject, wire};

/// Number of chunks of the word `slow`.
const SLOW_CHUNKS: u32 = 50;

/// Pause before each chunk of the word `slow`.
const SLOW_PAUSE: Duration = Duration::from_millis(100);

/// A red pixel, as PNG in base64.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";

/// An update of an unknown kind.
const ODD: &str = r#"{"sessionUpdate":"weather_update","sky":"clear","wind":{"speed":3}}"#;

/// One message, in chunks.
pub(crate) fn say(scene: &mut Scene, text: &str) -> Vec<Step> {
    words(&scene.message_id(), text)
}

/// Answers with the constructs of Markdown that agents use.
pub(crate) fn format(scene: &mut Scene) -> Vec<Step> {
    say(scene, include_str!("format.md"))
}

/// One message with this id, in chunks.
pub(crate) fn words(id: &str, text: &str) -> Vec<Step> {
    chunks(text).map(|text| message(id, text.into())).collect()
}

/// One thought, in chunks.
fn ponder(scene: &mut Scene, text: &str) -> Vec<Step> {
    let id = scene.message_id();
    chunks(text)
        .map(|text| Step::Update(SessionUpdate::AgentThoughtChunk(chunk(&id, text.into()))))
        .collect()
}

/// Splits a text into chunks of two words, with their spaces.
fn chunks(text: &str) -> impl Iterator<Item = String> {
    let mut words = text.split_inclusive(' ');
    iter::from_fn(move || Some([words.next()?, words.next().unwrap_or_default()].concat()))
}

fn message(id: &str, content: ContentBlock) -> Step {
    Step::Update(SessionUpdate::AgentMessageChunk(chunk(id, content)))
}

fn chunk(id: &str, content: ContentBlock) -> ContentChunk {
    let mut chunk = ContentChunk::new(content);
    chunk.message_id = Some(id.into());
    chunk
}

pub(crate) fn hello(scene: &mut Scene) -> Vec<Step> {
    say(scene, "Hello! I am a scripted agent, and there is no model behind me. ")
}

/// What the skill does with a text.
pub(crate) fn summarize(scene: &mut Scene, text: &str) -> Vec<Step> {
    let words = text.split_whitespace().count();
    scene.prompts.push(text.to_owned());
    say(scene, &format!("The summary of these words, {words} in number: you said something. "))
}

pub(crate) fn think(scene: &mut Scene) -> Vec<Step> {
    let thought = ponder(scene, "Somebody wants me to think. I had better look as if I did.");
    thought.into_iter().chain(say(scene, "I have thought about it: yes. ")).collect()
}

pub(crate) fn plan(scene: &mut Scene) -> Vec<Step> {
    const TASKS: [(&str, PlanEntryPriority); 3] = [
        ("Look around", PlanEntryPriority::High),
        ("Do the work", PlanEntryPriority::Medium),
        ("Tell about it", PlanEntryPriority::Low),
    ];
    let stage = |done: usize| {
        let entries = TASKS.iter().enumerate().map(|(index, (task, priority))| {
            let status = match index.cmp(&done) {
                core::cmp::Ordering::Less => PlanEntryStatus::Completed,
                core::cmp::Ordering::Equal => PlanEntryStatus::InProgress,
                core::cmp::Ordering::Greater => PlanEntryStatus::Pending,
            };
            PlanEntry::new(*task, priority.clone(), status)
        });
        Step::Update(SessionUpdate::Plan(Plan::new(entries.collect::<Vec<_>>())))
    };
    (0..=TASKS.len()).map(stage).chain(say(scene, "All tasks of my plan are done. ")).collect()
}

pub(crate) fn usage(scene: &mut Scene) -> Vec<Step> {
    let mut update = UsageUpdate::from(UsageUpdateMembers { used: 12_345, size: 200_000 });
    update.cost = Some(Box::new(Cost::new(0.0125, "USD")));
    let tokens = UsageMembers { total_tokens: 1_500, input_tokens: 1_200, output_tokens: 300 };
    let mut usage = Usage::from(tokens);
    usage.cached_read_tokens = Some(800);
    let mut steps = say(scene, "This is what I cost. ");
    steps.extend([Step::Update(SessionUpdate::UsageUpdate(update)), Step::Spend(usage)]);
    steps
}

pub(crate) fn image(scene: &mut Scene) -> Vec<Step> {
    let id = scene.message_id();
    let image = ImageContent::new(PIXEL, "image/png");
    vec![message(&id, "A red pixel: ".into()), message(&id, ContentBlock::Image(Box::new(image)))]
}

pub(crate) fn link(scene: &mut Scene) -> Vec<Step> {
    let id = scene.message_id();
    let mut link = ResourceLink::new("notes.txt", format!("file://{}", scene.path("notes.txt")));
    link.mime_type = Some("text/plain".to_owned());
    vec![message(&id, "See: ".into()), message(&id, ContentBlock::ResourceLink(Box::new(link)))]
}

pub(crate) fn slow(scene: &mut Scene) -> Vec<Step> {
    let id = scene.message_id();
    (1..=SLOW_CHUNKS)
        .flat_map(|number| {
            [Step::Wait(SLOW_PAUSE), message(&id, format!("{number} of {SLOW_CHUNKS}. ").into())]
        })
        .collect()
}

pub(crate) fn error(scene: &mut Scene) -> Vec<Step> {
    let mut steps = say(scene, "Something will go wrong. ");
    let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "The script says that this fails");
    steps.push(Step::Fail(error));
    steps
}

pub(crate) fn refuse(scene: &mut Scene) -> Vec<Step> {
    let mut steps = say(scene, "I would rather not. ");
    steps.push(Step::Stop(StopReason::Refusal));
    steps
}

pub(crate) fn max(scene: &mut Scene) -> Vec<Step> {
    let mut steps = say(scene, "I have so much to say that I will be cut off in the middle of a");
    steps.push(Step::Stop(StopReason::MaxTokens));
    steps
}

pub(crate) fn noise(scene: &mut Scene) -> Vec<Step> {
    let mut steps = vec![Step::Noise("npm warn this line is not JSON")];
    steps.extend(say(scene, "I made some noise. "));
    steps
}

pub(crate) fn odd(scene: &mut Scene) -> Vec<Step> {
    let mut steps = match wire::decode(ODD) {
        Ok(update) => vec![Step::Update(update)],
        Err(error) => {
            vec![Step::Fail(ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string()))]
        }
    };
    steps.extend(say(scene, "I told you about the weather. "));
    steps
}

pub(crate) fn crash(scene: &mut Scene) -> Vec<Step> {
    let mut steps = say(scene, "Goodbye, cruel ");
    steps.push(Step::Exit(3));
    steps
}
