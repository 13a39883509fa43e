use super::space::tests::setup;
use super::*;
use crate::hub::ThreadState;
use agui_bridge::conversation::Conversation;
use tempfile::TempDir;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;
use tokio::time::{advance, sleep};

const IDLE: Duration = Duration::from_secs(60);

/// The agents of at most two users, and the names of the threads that have ended.
fn agents(folder: &TempDir) -> (Arc<UserAgents>, UnboundedReceiver<String>) {
    let root = Some(folder.path().join("{user}"));
    let spaces = UserSpaces { root, ..UserSpaces::default() };
    let mut options = HubOptions::new(ConversationOptions::new("/"));
    options.idle = IDLE;
    let (removed, removals) = mpsc::unbounded_channel();
    let setup = setup(&["false"], folder.path());
    (UserAgents::new(setup, options, Some(spaces), 2, removed), removals)
}

fn open_thread(agent: &UserAgent, name: &str) {
    let conversation = Conversation::new(agent.conversation.clone());
    let thread = ThreadState::new(None, watch::Sender::new(None));
    assert!(agent.connection.open_thread(name, conversation, thread).unwrap());
}

#[tokio::test(start_paused = true)]
async fn users_have_connections_of_their_own() {
    let folder = TempDir::new().unwrap();
    let (agents, _removals) = agents(&folder);
    assert!(agents.find("alice").is_none() && agents.shared().is_none());
    let alice = agents.open("alice").await.unwrap();
    open_thread(&alice, "thread");
    let bob = agents.open("bob").await.unwrap();
    assert!(!bob.connection.has_thread("thread"));
    assert!(agents.open("alice").await.unwrap().connection.has_thread("thread"));
    assert!(agents.find("").is_none(), "the name of callers without authentication is one as well");
    assert_ne!(alice.conversation.cwd, bob.conversation.cwd);
    assert_eq!(agents.is_ready().await, None);
}

#[tokio::test(start_paused = true)]
async fn users_share_agent_without_spaces() {
    let folder = TempDir::new().unwrap();
    let options = HubOptions::new(ConversationOptions::new("/"));
    let removed = mpsc::unbounded_channel().0;
    let setup = setup(&["false"], folder.path());
    let agents = UserAgents::new(setup, options, None, 1, removed);
    let alice = agents.open("alice").await.unwrap();
    let bob = agents.open("bob").await.unwrap();
    assert!(Arc::ptr_eq(&alice, &bob));
    assert!(Arc::ptr_eq(&alice.connection, &agents.shared().unwrap()));
    drop((alice, bob));
    advance(100 * HubOptions::new(ConversationOptions::new("/")).idle).await;
    assert!(agents.find("carol").is_some(), "a shared agent is not ended");
}

/// The agent that was idle for the longest time is ended before a user is refused.
#[tokio::test(start_paused = true)]
async fn idle_agents_make_room_and_those_at_work_stay() {
    let folder = TempDir::new().unwrap();
    let (agents, mut removals) = agents(&folder);
    open_thread(&agents.open("alice").await.unwrap(), "thread of alice");
    advance(Duration::from_secs(1)).await;
    let bob = agents.open("bob").await.unwrap();
    let carol = agents.open("carol").await.unwrap();
    assert!(agents.find("alice").is_none() && agents.find("bob").is_some());
    assert_eq!(removals.recv().await.as_deref(), Some("thread of alice"));
    let refused = agents.open("alice").await.unwrap_err();
    let expected =
        "the agent is at work for 2 other users, which is the limit; try again when one has ended";
    assert_eq!(refused.to_string(), expected);
    // A call waits for the agent to start.
    bob.connection.shared.lock().waiting.push(tokio::sync::oneshot::channel().0);
    drop((bob, carol));
    agents.open("alice").await.unwrap();
    assert!(agents.find("bob").is_some() && agents.find("carol").is_none());
}

#[tokio::test(start_paused = true)]
async fn unused_agent_is_ended() {
    let folder = TempDir::new().unwrap();
    let (agents, _removals) = agents(&folder);
    let alice = agents.open("alice").await.unwrap();
    sleep(2 * IDLE).await;
    assert!(agents.find("alice").is_some(), "the agent is in use");
    let first = Arc::downgrade(&alice);
    drop(alice);
    sleep(IDLE - 2 * SWEEP).await;
    assert!(agents.find("alice").is_some());
    sleep(4 * SWEEP).await;
    assert!(agents.find("alice").is_none() && first.upgrade().is_none());
    // The user gets another one.
    assert!(agents.open("alice").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn space_that_cannot_be_prepared_is_an_error_for_its_user_only() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("alice"), "").unwrap();
    let (agents, _removals) = agents(&folder);
    let error = agents.open("alice").await.unwrap_err().to_string();
    assert!(error.starts_with("the agent cannot be started for this user"), "{error}");
    assert!(!error.contains(folder.path().to_str().unwrap()), "{error}");
    assert!(agents.open("bob").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn no_agent_is_opened_at_the_end() {
    let folder = TempDir::new().unwrap();
    let (agents, _removals) = agents(&folder);
    let alice = agents.open("alice").await.unwrap();
    agents.shut_down().await;
    assert_eq!(agents.open("alice").await.unwrap_err(), NoAgent::Ending);
    drop(alice);
}
