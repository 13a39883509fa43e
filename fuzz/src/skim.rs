use jsonrpc_core::{PeekError, Skim};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Skimming comes to an end whatever the bytes are, and gives the members that serde_json gives where they are an object.
pub fn skim(data: &[u8]) {
    let skimmed = members(data);
    let object = core::str::from_utf8(data).ok().and_then(|text| serde_json::from_str(text).ok());
    let Some(object): Option<BTreeMap<String, &RawValue>> = object else { return };
    let skimmed: BTreeMap<_, _> = skimmed.expect("an object").into_iter().collect();
    assert_eq!(skimmed.len(), object.len());
    for (name, value) in object {
        let found = skimmed.get(name.as_bytes()).copied();
        assert_eq!(found, Some(value.get().as_bytes()), "{name}");
        // What is passed over, entered or taken ends at the same place.
        if value.get().starts_with('{') {
            members(value.get().as_bytes()).expect("an object");
        }
    }
}

/// A name, and the text of its value.
type Member<'a> = (Vec<u8>, &'a [u8]);

fn members(json: &[u8]) -> Result<Vec<Member<'_>>, PeekError> {
    let (mut skim, mut members) = (Skim::new(json)?, Vec::new());
    while let Some(name) = skim.next_name()? {
        members.push((name.into_owned(), skim.value()?));
        assert!(skim.read() <= json.len());
    }
    Ok(members)
}
