//! Modified messages: one member less, one `null`, one member more.

use serde_json::Value;

/// Returns each value that differs from `value` in one place.
pub fn mutants(value: &Value) -> Vec<Value> {
    let mut mutants = Vec::new();
    visit(value, &mut Vec::new(), &mut |path, name| {
        mutants.push(changed(value, path, |object| {
            object.remove(name);
        }));
        mutants.push(changed(value, path, |object| {
            object.insert(name.to_owned(), Value::Null);
        }));
        mutants.push(changed(value, path, |object| {
            object.insert(format!("{name}_of_a_newer_version"), Value::from(vec![1]));
        }));
    });
    mutants
}

/// Calls `at` with the path of each object and the name of each of its members.
fn visit<'a>(value: &'a Value, path: &mut Vec<String>, at: &mut impl FnMut(&[String], &'a str)) {
    let members: Vec<(String, &Value)> = match value {
        Value::Object(object) => {
            for name in object.keys() {
                at(path, name);
            }
            object.iter().map(|(name, member)| (name.clone(), member)).collect()
        }
        Value::Array(items) => {
            items.iter().enumerate().map(|(i, item)| (i.to_string(), item)).collect()
        }
        _ => return,
    };
    for (name, member) in members {
        path.push(name);
        visit(member, path, at);
        path.pop();
    }
}

fn changed(
    value: &Value,
    path: &[String],
    change: impl FnOnce(&mut serde_json::Map<String, Value>),
) -> Value {
    let mut copy = value.clone();
    let place = path.iter().fold(&mut copy, |value, name| match value {
        Value::Array(items) => &mut items[name.parse::<usize>().unwrap()],
        object => &mut object[name],
    });
    change(place.as_object_mut().unwrap());
    copy
}

/// Damages text, deterministically.
#[derive(Debug, Default)]
pub struct Noise(u64);

impl Noise {
    /// Returns the text with up to three characters replaced at one place.
    pub fn damage(&mut self, text: &str) -> String {
        const INSERTS: [&str; 16] = [
            "", "", "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", "e9", "null", "\u{1}",
            r"\ud83d",
        ];
        let characters: Vec<char> = text.chars().collect();
        let at = self.draw(characters.len() + 1);
        let behind = (at + self.draw(4)).min(characters.len());
        let head = &characters[..at];
        let tail = &characters[behind..];
        let insert = INSERTS[self.draw(INSERTS.len())];
        head.iter().copied().chain(insert.chars()).chain(tail.iter().copied()).collect()
    }

    fn draw(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }
}
