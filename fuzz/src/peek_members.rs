use jsonrpc_core::{Found, Peek, PeekError, peek_member};

pub(crate) const PATHS: [&[&str]; 6] =
    [&["sessionId"], &["update"], &["update", "sessionUpdate"], &["a"], &["a", "b"], &[""]];

/// What is found on the way is what is found by name, one after the other, afterwards.
pub fn peek_members(data: &[u8]) {
    let (peeked, members) =
        match (jsonrpc_core::peek(data), jsonrpc_core::peek_members(data, PATHS)) {
            (Ok(peeked), Ok(members)) => (peeked, members),
            (Err(error), Err(same)) => return assert_eq!(error, same),
            (peeked, members) => panic!("{peeked:?} and {members:?}"),
        };
    assert_eq!(view(&peeked), view(&members.0));
    for (path, found) in PATHS.iter().zip(members.1) {
        assert_eq!(found, by_name(&peeked, path), "{path:?}");
    }
}

fn by_name<'a>(peeked: &Peek<'a>, path: &[&str]) -> Found<'a> {
    let mut found = peeked.params();
    for name in path {
        let Some(object) = found else { return Ok(None) };
        found = match peek_member(object, name) {
            // It was read before.
            Err(error) if error != PeekError::Duplicate => panic!("{error}"),
            found => found?,
        };
    }
    Ok(found)
}

/// All that was seen of a message.
pub(crate) fn view<'a>(peek: &Peek<'a>) -> impl PartialEq + core::fmt::Debug + use<'a> {
    let method = peek.method().map(|method| format!("{method:?}"));
    (peek.kind(), peek.id(), method, peek.params(), peek.result(), peek.error())
}
