//! A system without terminals for programs, where methods with a terminal are not offered.
use crate::hub::AgentCommand;
use tokio::sync::mpsc;

pub(crate) async fn run(
    _: AgentCommand,
    _: mpsc::Receiver<String>,
    _: impl Fn(String),
) -> Result<(), String> {
    Err("this system has no terminals for programs".to_owned())
}
