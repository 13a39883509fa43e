//! Sealed states.
use crate::plugin::{Time, World, sealed};
use mcp_bridge::seal::{OpenError, StateKey};
use mcp_bridge::server::StateCodec;
use proptest::prelude::*;
use std::sync::Arc;

#[test]
fn keys_rotate_and_forgeries_are_rejected() {
    let world = World::new();
    let key = |number| StateKey::new(number, [number; 32]);
    let states = |key| sealed(key, world.time.clone(), Arc::clone(&world.nonces));
    let old = states(key(1)).seal("x", "ada");
    assert_eq!(states(key(2)).try_open(&old, "ada"), Err(OpenError::UnknownKey(1)));
    let rotated = states(key(2)).with_earlier([key(1)]);
    assert_eq!(rotated.try_open(&old, "ada").as_deref(), Ok("x"));
    assert_eq!(rotated.try_open(&old, "eve"), Err(OpenError::Forged));
    assert_eq!(rotated.try_open("?", "ada"), Err(OpenError::Malformed));
    world.time.pass(7200);
    assert_eq!(rotated.try_open(&old, "ada"), Err(OpenError::Expired));
}

proptest! {
    /// A sealed state with one modified bit does not open.
    #[test]
    fn modified_state_does_not_open(state in ".{0,64}", at in any::<prop::sample::Index>(), bit in 0..8u8) {
        use base64::Engine;
        use base64::engine::general_purpose::URL_SAFE_NO_PAD;
        let states = sealed(StateKey::new(1, [7; 32]), Time::default(), Arc::default());
        let text = states.seal(&state, "ada");
        prop_assert_eq!(states.try_open(&text, "ada"), Ok(state));
        let mut bytes = URL_SAFE_NO_PAD.decode(text).expect("base64");
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert!(states.try_open(&URL_SAFE_NO_PAD.encode(bytes), "ada").is_err());
    }
}
