//! Laws of a context, for any peer.
use super::*;
use proptest::sample::subsequence;

/// Effect of a proxy on a carrier.
#[derive(Clone, Copy, Debug)]
enum Harm {
    Strip,
    Garble(Garbage),
    Rewrite,
}

#[derive(Clone, Copy, Debug)]
enum Garbage {
    Null,
    List,
    Half,
}

fn harm() -> impl Strategy<Value = Harm> {
    let garbage = select(vec![Garbage::Null, Garbage::List, Garbage::Half]);
    prop_oneof![Just(Harm::Strip), garbage.prop_map(Harm::Garble), Just(Harm::Rewrite)]
}

fn pass_on(params: &mut Value, carrier: Carrier, harm: Harm) {
    if carrier == Carrier::Message {
        let message = params["message"].as_str().expect("text");
        let at = message.rfind("--x-model-context").expect("a section");
        let (text, section) = message.split_at(at);
        let (header, body) = section.split_once('\n').expect("two lines");
        let message = match harm {
            Harm::Strip => text.trim_end().to_owned(),
            Harm::Garble(Garbage::Null) => format!("{text}{header}\nnull"),
            Harm::Garble(Garbage::List) => format!("{text}{header}\n[{body}]"),
            Harm::Garble(Garbage::Half) => {
                format!("{text}{header}\n{}", body.strip_suffix('}').expect("an object"))
            }
            Harm::Rewrite => format!("{}\r\n\r\n{header}\r\n{body} \r\n", text.trim_end())
                .replace("json\r", "JSON; v=1\r"),
        };
        params["message"] = message.into();
        return;
    }
    let holder = if carrier == Carrier::Meta { "_meta" } else { "requestedSchema" };
    let members = params[holder].as_object_mut().expect("an object");
    for key in [EXTENSION, NAME] {
        let Some(value) = members.remove(key) else { continue };
        let value = match harm {
            Harm::Strip => continue,
            Harm::Garble(Garbage::Null) => Value::Null,
            Harm::Garble(Garbage::List) => json!([value]),
            Harm::Garble(Garbage::Half) => value.to_string().into(),
            // Through a map that sorts its members.
            Harm::Rewrite => serde_json::from_str(&value.to_string()).expect("JSON"),
        };
        members.insert(key.to_owned(), value);
    }
}

proptest! {
    /// Extraction returns the encoded context and the original elicitation, for any message, schema
    /// and context.
    #[test]
    fn extraction_inverts_encoding(
        params in params(), context in object(), carriers in carriers(), is_later_name: bool,
    ) {
        let mut encoding = EncodeOptions::new(carriers);
        encoding.is_later_name = is_later_name;
        let context = Value::Object(context);
        let encoded = encode(&params, &context, &encoding).expect("it fits");
        let found = extract(&encoded);
        prop_assert_eq!(value(&found), Some(context));
        prop_assert_eq!(write(&found.request), params);
        let first = [Carrier::Meta, Carrier::Schema, Carrier::Message].into_iter().find(|it| carriers.has(*it));
        prop_assert_eq!(found.source, first);
        prop_assert_eq!(found.diagnostics, vec![]);
    }

    /// The context survives a proxy that strips, garbles or rewrites any one or two carriers.
    #[test]
    fn context_survives_a_proxy(
        params in params(),
        context in object(),
        harmed in subsequence(vec![Carrier::Meta, Carrier::Schema, Carrier::Message], 1..=2),
        harms in [harm(), harm()],
    ) {
        let context = Value::Object(context);
        let mut encoded = encode(&params, &context, &EncodeOptions::new(Carriers::ALL)).expect("it fits");
        for (carrier, harm) in harmed.into_iter().zip(harms) {
            pass_on(&mut encoded, carrier, harm);
        }
        let found = extract(&encoded);
        prop_assert_eq!(value(&found), Some(context));
        prop_assert!(found.diagnostics.iter().all(|it| it.problem != ContextProblem::Mismatch));
    }

    /// Encoding again replaces the context: the last one counts, as if it were the only one.
    #[test]
    fn the_last_context_counts(
        params in params(), first in object(), last in object(), before in carriers(), after in carriers(),
    ) {
        let first = Value::Object(first);
        let last = Value::Object(last);
        let once = encode(&params, &last, &EncodeOptions::new(after)).expect("it fits");
        let twice = encode(&params, &first, &EncodeOptions::new(before)).expect("it fits");
        prop_assert_eq!(encode(&twice, &last, &EncodeOptions::new(after)).expect("it fits"), once);
    }

    /// Markers in the text are broken, and the text remains distinct from the section.
    #[test]
    fn markers_in_the_text_are_broken(
        parts in prop::collection::vec(select(vec![
            "--x-model-context:", "--x-elicit-context:", " application/json", "\n", "{\"b\":2}", "Hi", "\r\n",
        ]), 0..8),
        context in object(),
    ) {
        let context = Value::Object(context);
        let params = json!({ "message": parts.concat(), "requestedSchema": {} });
        let carriers = Carriers { message: true, ..Carriers::NONE };
        let encoded = encode(&params, &context, &EncodeOptions::new(carriers)).expect("it fits");
        let found = extract(&encoded);
        prop_assert_eq!(value(&found), Some(context));
        let text = found.request.message().expect("a form");
        prop_assert!(!text.contains("--x-model-context:") && !text.contains("--x-elicit-context:"));
        prop_assert_eq!(found.diagnostics, vec![]);
    }

    /// No text causes a panic, and a text without a section is unchanged.
    #[test]
    fn any_text_is_decoded(text in "(\\PC|\n|\r|--x-model-context: application/json|[{}\":,])*") {
        let params = json!({ "message": text, "requestedSchema": text, "_meta": text });
        let found = extract(&params);
        let left = found.request.message().expect("a form");
        prop_assert!(text.starts_with(left));
        if !text.contains("--x-model-context:") {
            prop_assert_eq!(left, &text);
        }
    }
}
