//! The agent's words.

use crate::script::{Scene, Step};
use crate::{forms, news, page, talk, terminal, tools};

/// A word, its description and its steps.
#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) steps: fn(&mut Scene) -> Vec<Step>,
}

/// Largest number of remembered prompts of a session; the first ones.
const MAX_PROMPTS: usize = 1_000;

/// All words, in the order of the help text.
pub(crate) const WORDS: &[Word] = &[
    word("help", "lists these words", help),
    word("hello", "streams a short text", talk::hello),
    word("think", "thinks, then answers", talk::think),
    word("format", "answers with Markdown: a table, tasks, code, a diff", talk::format),
    word("plan", "makes a plan and works through it", talk::plan),
    word("read", "reads a file: a tool call with a location", tools::read),
    word("edit", "edits a file: a diff, after asking for permission", tools::edit),
    word("run", "runs a command: in the client's terminal if it has one", terminal::run),
    word("permission", "asks for permission, and does nothing with it", tools::permission),
    word("form", "asks with a form, if the client shows forms", forms::form),
    word("ask", "asks with a tool of your page, if it has one", page::ask),
    word("dark", "makes your page dark with a tool of its own", page::dark),
    word("title", "names the conversation with a tool of your page", page::title),
    word("book", "books a flight with a tool that asks you, if one is offered", page::book),
    word("recall", "lists what you have said before in this session", recall),
    word("usage", "reports the used context, the cost, and the tokens", talk::usage),
    word("pieces", "runs a tool with a result in pieces", news::pieces),
    word("rewrite", "sends a whole message, and rewrites it (version 2)", news::rewrite),
    word("later", "works again after the turn, without a prompt", news::later),
    word("compact", "compacts its context, if the client shows that", news::compact),
    word("notice", "sends a notice, if the client shows notices", news::notice),
    word("suggest", "suggests what to say next, if the client shows that", news::suggest),
    word("delegate", "starts a subagent, if the client shows subagents", news::delegate),
    word("image", "sends an image", talk::image),
    word("link", "sends a link to a resource", talk::link),
    word("slow", "talks for five seconds; cancel it", talk::slow),
    word("error", "answers the prompt with an error", talk::error),
    word("refuse", "ends the turn as `refusal`", talk::refuse),
    word("max", "ends the turn as `max_tokens`", talk::max),
    word("noise", "writes a line that is not JSON", talk::noise),
    word("odd", "sends an update that no client knows", talk::odd),
    word("crash", "exits in the middle of the turn, with status 3", talk::crash),
    word("tour", "text, thought, plan, read, edit, run and usage in one turn", tour),
];

const fn word(name: &'static str, about: &'static str, steps: fn(&mut Scene) -> Vec<Step>) -> Word {
    Word { name, about, steps }
}

/// Returns the steps of the first known word in a prompt; without one, the agent repeats the
/// prompt.
pub(crate) fn steps(prompt: &str, scene: &mut Scene) -> Vec<Step> {
    let mut said = prompt.split(|c: char| !c.is_alphanumeric());
    let known =
        said.find_map(|said| WORDS.iter().find(|word| said.eq_ignore_ascii_case(word.name)));
    let steps = match known {
        Some(word) => (word.steps)(scene),
        None => talk::say(scene, &format!("You said: {prompt}\n\nSay `help` to see what I know.")),
    };
    if scene.prompts.len() < MAX_PROMPTS {
        scene.prompts.push(prompt.to_owned());
    }
    steps
}

fn recall(scene: &mut Scene) -> Vec<Step> {
    let mut text = String::from("You have said:\n\n");
    for prompt in &scene.prompts {
        text.push_str(&format!("- {prompt}\n"));
    }
    talk::say(scene, &text)
}

fn help(scene: &mut Scene) -> Vec<Step> {
    let mut text = String::from("I am a scripted agent. I know these words:\n\n");
    for word in WORDS {
        text.push_str(&format!("- `{}` {}\n", word.name, word.about));
    }
    talk::say(scene, &text)
}

fn tour(scene: &mut Scene) -> Vec<Step> {
    const STOPS: &[fn(&mut Scene) -> Vec<Step>] = &[
        talk::hello,
        talk::think,
        talk::plan,
        tools::read,
        tools::edit,
        terminal::run,
        talk::usage,
    ];
    STOPS.iter().flat_map(|steps| steps(scene)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_word_is_there_once() {
        let names: BTreeSet<_> = WORDS.iter().map(|word| word.name).collect();
        assert_eq!(names.len(), WORDS.len());
    }
}
