//! Shapes of the types on the wire, and JSON generated from them.
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The shapes of all types by name, one per line:
///
/// | line | shape |
/// |---|---|
/// | `str bool num id error any dynamic` | a value; `id` is one of a JSON-RPC request, `error` one of its errors |
/// | `[T]`, `{T}` | array of it, object with values of it |
/// | `name a b` | one of these strings, or another |
/// | `object a! T, b? T, c* T` | members: required; optional; patched |
/// | `by tag: a T, b? T` | object selected by a tag; with `?` the tag may be missing |
/// | `has a T` | object selected by the presence of a member |
/// | `either T, U` | one of the two |
pub(crate) static SHAPES: LazyLock<Shapes> = LazyLock::new(|| {
    let lines = include_str!("shapes.txt").lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let pairs = lines.map(|line| line.split_once(" = ").expect(line));
    Shapes(pairs.map(|(name, shape)| (name, Shape::parse(shape))).collect())
});

#[derive(Debug)]
pub(crate) struct Shapes(pub(crate) BTreeMap<&'static str, Shape>);

#[derive(Debug)]
pub(crate) enum Shape {
    Names(Vec<&'static str>),
    Object(Vec<Member>),
    /// Tag; then name, whether the tag may be missing, payload.
    ByTag(&'static str, Vec<(&'static str, bool, &'static str)>),
    ByMember(Vec<(&'static str, &'static str)>),
    Either(Vec<&'static str>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) presence: Presence,
    pub(crate) of: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    Optional,
    Patch,
}

impl Shape {
    fn parse(text: &'static str) -> Self {
        let (head, rest) = text.split_once(' ').unwrap_or((text, ""));
        let parts = || rest.split(", ").filter(|part| !part.is_empty());
        let pair = |part: &'static str| part.split_once(' ').expect(part);
        match head {
            "name" => Self::Names(rest.split(' ').collect()),
            "object" => Self::Object(parts().map(|part| Member::parse(pair(part))).collect()),
            "by" => {
                let (tag, variants) = rest.split_once(": ").expect(rest);
                let variant = |part| {
                    let (name, of) = pair(part);
                    (name.trim_end_matches('?'), name.ends_with('?'), of)
                };
                Self::ByTag(tag, variants.split(", ").map(variant).collect())
            }
            "has" => Self::ByMember(parts().map(pair).collect()),
            "either" => Self::Either(parts().collect()),
            _ => panic!("{text}"),
        }
    }
}

impl Member {
    fn parse((name, of): (&'static str, &'static str)) -> Self {
        let (name, presence) = name.split_at(name.len() - 1);
        let presence = match presence {
            "!" => Presence::Required,
            "?" => Presence::Optional,
            "*" => Presence::Patch,
            _ => panic!("{name}{presence}"),
        };
        Self { name, presence, of }
    }
}

type Values = BoxedStrategy<Value>;
type Members = BoxedStrategy<Map<String, Value>>;

impl Shapes {
    /// JSON of a type, including unknown members, names and variants of a newer peer.
    pub(crate) fn instance(&'static self, name: &str) -> Values {
        match &self.0[name] {
            Shape::Names(names) => {
                prop_oneof![3 => select(names.clone()).prop_map(Value::from), 1 => other_name()]
                    .boxed()
            }
            Shape::Either(types) => Union::new(types.iter().map(|of| self.of_type(of))).boxed(),
            _ => self.members(name).prop_map(Value::Object).boxed(),
        }
    }

    /// JSON of each known name and variant; empty for a type without any.
    pub(crate) fn known(&'static self, name: &str) -> Vec<Values> {
        let members = match &self.0[name] {
            Shape::Names(names) => {
                return names.iter().map(|name| Just(Value::from(*name)).boxed()).collect();
            }
            Shape::ByTag(tag, variants) => self.variants(tag, variants),
            Shape::ByMember(variants) => variants.iter().map(|(_, of)| self.members(of)).collect(),
            Shape::Object(_) | Shape::Either(_) => Vec::new(),
        };
        members.into_iter().map(|members| members.prop_map(Value::Object).boxed()).collect()
    }

    fn members(&'static self, name: &str) -> Members {
        let known = match &self.0[name] {
            Shape::Object(members) => {
                let members = members.iter().map(|member| self.member(*member));
                members
                    .collect::<Vec<_>>()
                    .prop_map(|members| members.into_iter().flatten().collect())
                    .boxed()
            }
            Shape::ByTag(tag, variants) => {
                let other = (other_name(), any_members())
                    .prop_map(|(name, members)| with_tag(tag, name, members));
                prop_oneof![4 => Union::new(self.variants(tag, variants)), 1 => other].boxed()
            }
            Shape::ByMember(variants) => {
                let known = Union::new(variants.iter().map(|(_, of)| self.members(of)));
                prop_oneof![3 => known, 1 => any_members()].boxed()
            }
            shape => panic!("{name} is not an object: {shape:?}"),
        };
        let unknown = prop_oneof![2 => Just(Map::new()).boxed(), 1 => any_members()];
        (known, unknown)
            .prop_map(|(known, unknown)| unknown.into_iter().chain(known).collect())
            .boxed()
    }

    fn variants(
        &'static self,
        tag: &'static str,
        variants: &[(&'static str, bool, &'static str)],
    ) -> Vec<Members> {
        let variants = variants.iter().flat_map(|&(name, untagged, of)| {
            let tagged = self.members(of).prop_map(move |it| with_tag(tag, name.into(), it));
            let untagged = untagged.then(|| {
                self.members(of)
                    .prop_map(move |mut it| {
                        it.remove(tag);
                        it
                    })
                    .boxed()
            });
            [tagged.boxed()].into_iter().chain(untagged)
        });
        variants.collect()
    }

    fn member(&'static self, member: Member) -> BoxedStrategy<Option<(String, Value)>> {
        let value = self.of_type(member.of).prop_map(move |it| Some((member.name.to_owned(), it)));
        let null = Just(Some((member.name.to_owned(), Value::Null)));
        match member.presence {
            Presence::Required => value.boxed(),
            Presence::Optional | Presence::Patch => prop_oneof![value, Just(None), null].boxed(),
        }
    }

    fn of_type(&'static self, notation: &'static str) -> Values {
        if let Some(item) = notation.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            return prop::collection::vec(self.of_type(item), 0..3).prop_map(Value::from).boxed();
        }
        if notation == "{any}" {
            return prop::collection::btree_map("\\PC{0,4}", any_json(), 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect()))
                .boxed();
        }
        match notation {
            "str" => string().boxed(),
            "bool" => any::<bool>().prop_map(Value::from).boxed(),
            "num" => number().boxed(),
            "id" => prop_oneof![any::<i64>().prop_map(Value::from), string()].boxed(),
            "any" => any_json().boxed(),
            "dynamic" => Just(Value::from("dynamic")).boxed(),
            "error" => (any::<i32>(), string())
                .prop_map(|(code, message)| json!({ "code": code, "message": message }))
                .boxed(),
            name => self.instance(name),
        }
    }
}

fn with_tag(tag: &str, name: Value, mut members: Map<String, Value>) -> Map<String, Value> {
    members.insert(tag.to_owned(), name);
    members
}

fn string() -> impl Strategy<Value = Value> {
    prop_oneof!["\\PC{0,6}", "[\"\\\\/\n\t\u{0}-\u{1f}\u{2028}]{0,4}"].prop_map(Value::from)
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i32>().prop_map(|number| Value::from(f64::from(number) / 8.0)),
    ]
}

/// A name that no list contains.
fn other_name() -> impl Strategy<Value = Value> {
    "[_z][a-z_\"]{0,4}Z".prop_map(Value::from)
}

/// Members that no type knows.
fn any_members() -> Members {
    prop::collection::btree_map("X[a-z\"~/]{0,3}", any_json(), 0..3)
        .prop_map(|members| members.into_iter().collect())
        .boxed()
}

/// Any JSON value.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), number(), string()];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z\"~/]{1,4}", inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}
