//! What an agent says, translated, and what a page asks, mapped.
mod ends;
mod input;
mod limits;
mod permission;
mod properties;
mod recorded;
mod script;
mod sessions;
mod text;
mod tool_calls;
mod traces;
