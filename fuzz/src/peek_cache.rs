use crate::peek_members::{PATHS, view};
use jsonrpc_core::PeekCache;

/// Whatever came before, a line is what it is without a cache.
pub fn peek_cache(data: &[u8]) {
    let mut cache = PeekCache::new(PATHS);
    for line in data.split(|byte| *byte == b'\n') {
        match (cache.peek(line), jsonrpc_core::peek_members(line, PATHS)) {
            (Ok((cached, found)), Ok((peeked, expected))) => {
                assert_eq!(view(&cached), view(&peeked));
                assert_eq!(found, expected);
            }
            (Err(error), Err(same)) => assert_eq!(error, same),
            (cached, peeked) => panic!("{cached:?} and {peeked:?}"),
        }
    }
}
