//! Runs with new frames.
use super::*;

#[test]
fn changed_runs_are_returned_once_in_order() {
    let mut rig = Rig::connected(hub_options());
    rig.say("a", "1").unwrap();
    rig.say("b", "1").unwrap();
    let [of_a, of_b] = ["s1", "s2"].map(|session| chunk(session, "word ").to_string());
    for line in [&of_b, &of_a, &of_b] {
        rig.hub.handle_line(Ok(line), rig.now);
    }
    let changed = |hub: &mut Hub| {
        let runs = std::iter::from_fn(|| hub.poll_changed());
        runs.map(|run| (run.thread, run.run_id.to_string(), run.has_ended)).collect::<Vec<_>>()
    };
    let run = |thread: &str, has_ended| (thread.to_owned(), "1".to_owned(), has_ended);
    assert_eq!(changed(&mut rig.hub), [run("b", false), run("a", false)]);
    assert_eq!(changed(&mut rig.hub), []);
    let id = rig.prompts.remove("s1").unwrap();
    let response = json!({"jsonrpc": "2.0", "id": id, "result": {"stopReason": "end_turn"}});
    rig.hub.handle_line(Ok(&response.to_string()), rig.now);
    assert_eq!(changed(&mut rig.hub), [run("a", true)]);
}
