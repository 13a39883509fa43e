//! The wire shapes of the types, and JSON generated from them.
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::LazyLock;

/// The shapes of the types of a version, by name, one line each:
///
/// | line | shape |
/// |---|---|
/// | `str bool u16 n16 u32 u64 i32 i64 f64 any id key error` | a value; `id` is the id of a JSON-RPC request, `error` its error, `n16` is not 0, `key` has 1 to 255 characters |
/// | `[T]`, `{T}` | array, object with values of `T` |
/// | `name a b` | one of these strings, or another |
/// | `object a! T, b? T, c* T, .. T` | members: required; optional; patched; flat |
/// | `by tag: a T, b? T` | object selected by a tag; with `?` the tag may be missing |
/// | `has a T, b T` | object selected by a member |
/// | `either T, U` | array of one or of the other |
/// | `map T` | as `{T}` |
///
/// After `!`, `?` and `*`, or a tag, follow the annotations of the schema: `~` for
/// `x-deserialize-default-on-error`, `0` for `-default-on-null`, `i` for `-skip-invalid-items`.
#[derive(Debug)]
pub(crate) struct Shapes(pub(crate) BTreeMap<&'static str, Shape>);

/// Returns the number of cases of a property: `ordinary` for proptest's default of 256 cases, and
/// in proportion for another `PROPTEST_CASES`.
pub(crate) fn cases(ordinary: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    let cases = (ordinary.saturating_mul(config.cases) / 256).max(1);
    ProptestConfig { cases, ..config }
}

/// The shapes of version 1.
pub(crate) static V1: LazyLock<Shapes> =
    LazyLock::new(|| Shapes::parse(include_str!("v1_shapes.txt")));

/// The shapes of version 2.
pub(crate) static V2: LazyLock<Shapes> =
    LazyLock::new(|| Shapes::parse(include_str!("v2_shapes.txt")));

/// A shape.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// A value without parts, an array, a map, or another type, in the notation above.
    Type(&'static str),
    Names(Vec<&'static str>),
    Object(Vec<Member>),
    /// Tag; then name, whether the tag may be missing, payload.
    ByTag(&'static str, Vec<(&'static str, bool, &'static str)>),
    ByMember(Vec<(&'static str, &'static str)>),
    Either(&'static str, &'static str),
    Map(&'static str),
}

/// A member of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// Name of the member; `None` if it is flattened.
    pub(crate) name: Option<&'static str>,
    /// The meaning of `null` and absence.
    pub(crate) presence: Presence,
    /// The annotations of the schema for invalid values.
    pub(crate) marks: &'static str,
    /// Type of the member.
    pub(crate) of: &'static str,
}

/// The meaning of `null` and absence for a member.
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
            "object" => Self::Object(parts().map(Member::parse).collect()),
            "by" => {
                let (tag, variants) = rest.split_once(": ").expect(rest);
                let variant = |part| {
                    let (name, of) = pair(part);
                    (name.trim_end_matches('?'), name.ends_with('?'), of)
                };
                Self::ByTag(tag.trim_end_matches('~'), variants.split(", ").map(variant).collect())
            }
            "has" => Self::ByMember(parts().map(pair).collect()),
            "either" => {
                let (first, second) = rest.split_once(", ").expect(rest);
                Self::Either(first, second)
            }
            "map" => Self::Map(rest),
            _ => Self::Type(text),
        }
    }
}

impl Member {
    fn parse(text: &'static str) -> Self {
        let (name, of) = text.split_once(' ').expect(text);
        if name == ".." {
            return Self { name: None, presence: Presence::Required, marks: "", of };
        }
        let (name, marks) = name.split_at(name.find(['!', '?', '*']).expect(text));
        let (presence, marks) = marks.split_at(1);
        let presence = match presence {
            "!" => Presence::Required,
            "?" => Presence::Optional,
            _ => Presence::Patch,
        };
        Self { name: Some(name), presence, marks, of }
    }
}

/// JSON with ordered members.
#[derive(Clone)]
pub(crate) enum Node {
    /// Its text, and the value after a round trip.
    Value(String, Value),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Node {
    /// Returns the JSON text.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Value(text, _) => text.clone(),
            Self::Array(nodes) => {
                format!("[{}]", nodes.iter().map(Self::text).collect::<Vec<_>>().join(","))
            }
            Self::Object(members) => {
                let member =
                    |(name, node): &(String, Self)| format!("{}:{}", json!(name), node.text());
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
            }
        }
    }

    /// The JSON value that encoding has to give.
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Value(_, value) => value.clone(),
            Self::Array(nodes) => nodes.iter().map(Self::value).collect(),
            Self::Object(members) => {
                let member = |(name, node): &(String, Self)| (name.clone(), node.value());
                Value::Object(members.iter().map(member).collect::<Map<_, _>>())
            }
        }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        Self::Value(value.to_string(), value)
    }
}

impl Shapes {
    fn parse(text: &'static str) -> Self {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let pairs = lines.map(|line| line.split_once(" = ").expect(line));
        Self(pairs.map(|(name, shape)| (name, Shape::parse(shape))).collect())
    }

    /// Generates JSON of a type as a newer peer might send it: members in any order, with unknown
    /// members, names and variants.
    pub(crate) fn instance(&'static self, name: &str) -> BoxedStrategy<Node> {
        match &self.0[name] {
            Shape::Type(notation) => self.of_type(notation),
            Shape::Map(value) => self.map_of(value),
            Shape::Names(names) => {
                prop_oneof![3 => select(names.clone()).prop_map(Value::from), 1 => other_name()]
                    .prop_map(Node::from)
                    .boxed()
            }
            Shape::Either(first, second) => {
                prop_oneof![self.array_of(first), self.array_of(second)].boxed()
            }
            Shape::Object(_) | Shape::ByTag(..) | Shape::ByMember(_) => {
                self.members(name).prop_map(Node::Object).boxed()
            }
        }
    }

    fn members(&'static self, name: &str) -> BoxedStrategy<Members> {
        let known = match self.0.get(name) {
            None if name == "Extra" => Just(Vec::new()).boxed(),
            Some(Shape::Object(members)) => members
                .iter()
                .map(|member| self.member(member))
                .collect::<Vec<_>>()
                .prop_map(|members| members.into_iter().flatten().collect())
                .boxed(),
            Some(Shape::ByTag(tag, variants)) => self.by_tag(tag, variants),
            Some(Shape::ByMember(variants)) => {
                let known = variants.iter().map(|(_, payload)| self.members(payload));
                prop_oneof![3 => proptest::strategy::Union::new(known), 1 => Just(Vec::new())]
                    .boxed()
            }
            shape => panic!("{name} is no object: {shape:?}"),
        };
        (known, unknown_members())
            .prop_map(|(known, unknown)| {
                let mut names = BTreeSet::new();
                known
                    .into_iter()
                    .chain(unknown)
                    .filter(|(name, _)| names.insert(name.clone()))
                    .collect()
            })
            .prop_map(|members: Members| Just(members).prop_shuffle())
            .prop_flat_map(|shuffled| shuffled)
            .boxed()
    }

    fn member(&'static self, member: &Member) -> BoxedStrategy<Members> {
        let Some(name) = member.name else { return self.members(member.of) };
        let value =
            self.of_type(member.of).prop_map(move |value| Vec::from([(name.to_owned(), value)]));
        let null = move |node: Node| Just(Vec::from([(name.to_owned(), node)]));
        match member.presence {
            Presence::Required => value.boxed(),
            Presence::Optional => {
                prop_oneof![3 => value, 3 => Just(Vec::new()), 1 => null(Node::from(Value::Null))]
                    .boxed()
            }
            Presence::Patch => {
                prop_oneof![2 => value, 2 => Just(Vec::new()), 1 => null(Node::from(Value::Null))]
                    .boxed()
            }
        }
    }

    /// Generates JSON of each known name and variant of a type; empty for a type without any.
    pub(crate) fn known(&'static self, name: &str) -> Vec<BoxedStrategy<Node>> {
        let members = match &self.0[name] {
            Shape::Names(names) => {
                return names
                    .iter()
                    .map(|name| Just(Node::from(Value::from(*name))).boxed())
                    .collect();
            }
            Shape::ByTag(tag, variants) => self.variants(tag, variants),
            Shape::ByMember(variants) => {
                let variants = variants.iter().map(|&(member, payload)| {
                    let selects = move |(name, node): &(String, Node)| {
                        name == member && !node.value().is_null()
                    };
                    let members = self.members(payload);
                    members.prop_filter("`null` selects no variant", move |members| {
                        members.iter().any(selects)
                    })
                });
                variants.map(Strategy::boxed).collect()
            }
            _ => Vec::new(),
        };
        members.into_iter().map(|members| members.prop_map(Node::Object).boxed()).collect()
    }

    fn by_tag(
        &'static self,
        tag: &'static str,
        variants: &[(&'static str, bool, &'static str)],
    ) -> BoxedStrategy<Members> {
        let other = (other_name(), other_members()).prop_map(move |(name, members)| {
            with_tag(tag, name.as_str().unwrap_or_default(), members)
        });
        let known = proptest::strategy::Union::new(self.variants(tag, variants));
        prop_oneof![4 => known, 1 => other].boxed()
    }

    fn variants(
        &'static self,
        tag: &'static str,
        variants: &[(&'static str, bool, &'static str)],
    ) -> Vec<BoxedStrategy<Members>> {
        let known = variants.iter().flat_map(|&(name, untagged, payload)| {
            let tagged = (!name.is_empty()).then(|| {
                self.members(payload).prop_map(move |members| with_tag(tag, name, members)).boxed()
            });
            tagged.into_iter().chain(untagged.then(|| self.members(payload)))
        });
        known.collect()
    }

    fn of_type(&'static self, notation: &'static str) -> BoxedStrategy<Node> {
        if let Some(item) = notation.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            return self.array_of(item);
        }
        if let Some(value) = notation.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            return self.map_of(value);
        }
        let value = match notation {
            "str" => string().boxed(),
            "bool" => any::<bool>().prop_map(Value::from).boxed(),
            "u16" => any::<u16>().prop_map(Value::from).boxed(),
            "n16" => (1..=u16::MAX).prop_map(Value::from).boxed(),
            "key" => prop_oneof!["\\PC{1,6}", "[\"\\\\é]{255}"].prop_map(Value::from).boxed(),
            "u32" => any::<u32>().prop_map(Value::from).boxed(),
            "u64" => any::<u64>().prop_map(Value::from).boxed(),
            "i64" => any::<i64>().prop_map(Value::from).boxed(),
            "id" => {
                prop_oneof![any::<i64>().prop_map(Value::from), string(), Just(Value::Null)].boxed()
            }
            "any" => any_json().boxed(),
            "i32" => any::<i32>().prop_map(Value::from).boxed(),
            "error" => (any::<i32>(), string())
                .prop_map(|(code, message)| json!({ "code": code, "message": message }))
                .boxed(),
            "f64" => return number(),
            name => return self.instance(name),
        };
        value.prop_map(Node::from).boxed()
    }

    fn array_of(&'static self, item: &'static str) -> BoxedStrategy<Node> {
        prop::collection::vec(self.of_type(item), 0..3).prop_map(Node::Array).boxed()
    }

    fn map_of(&'static self, value: &'static str) -> BoxedStrategy<Node> {
        prop::collection::btree_map("\\PC{0,4}", self.of_type(value), 0..3)
            .prop_map(|members| members.into_iter().collect())
            .prop_map(Node::Object)
            .boxed()
    }
}

type Members = Vec<(String, Node)>;

fn with_tag(tag: &str, name: &str, mut members: Members) -> Members {
    members.retain(|(member, _)| member != tag);
    members.push((tag.to_owned(), Value::from(name).into()));
    members
}

/// A number, with or without a fraction; its value has one.
fn number() -> BoxedStrategy<Node> {
    prop_oneof![
        any::<i32>().prop_map(|number| Node::Value(number.to_string(), f64::from(number).into())),
        any::<f64>().prop_map(|number| Node::from(Value::from(number))),
    ]
    .boxed()
}

fn string() -> impl Strategy<Value = Value> {
    prop_oneof!["\\PC{0,6}", "[\"\\\\/\n\t\u{0}-\u{1f}\u{2028}]{0,4}"].prop_map(Value::from)
}

/// A name outside of every list.
fn other_name() -> impl Strategy<Value = Value> {
    "[_z][a-z_\"]{0,4}Z".prop_map(Value::from)
}

/// Unknown members.
fn unknown_members() -> impl Strategy<Value = Members> {
    prop_oneof![
        2 => Just(Vec::new()),
        1 => prop::collection::btree_map("X[a-z\"~/]{0,3}", any_json(), 0..3)
            .prop_map(|map| map.into_iter().map(|(name, value)| (name, value.into())).collect()),
    ]
}

/// Members of an unknown variant: names may be those of known members, with any values.
fn other_members() -> impl Strategy<Value = Members> {
    let name = prop_oneof![
        "X[a-z]{0,3}",
        select(vec!["content", "text", "value", "options", "title"]).prop_map(str::to_owned)
    ];
    prop::collection::btree_map(name, any_json(), 0..3)
        .prop_map(|map| map.into_iter().map(|(name, value)| (name, value.into())).collect())
}

/// Any JSON value.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i32>().prop_map(|number| Value::from(f64::from(number) / 4.0)),
        string(),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z\"~/]{1,4}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}
