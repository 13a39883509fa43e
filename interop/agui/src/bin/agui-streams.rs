//! Prints streams of the producer, one for each line: `agui-streams COUNT 1.0|legacy`. With `read`,
//! reads bodies (`{"sse": …}` or `{"protobuf": HEX}`, one for each line) and prints their events.
use agui::stream;
use agui_types::event::Event;
use agui_types::profile::Profile;
use agui_types::proto::{self, Frame};
use agui_types::sse;
use serde_json::Value;
use std::io::{self, BufRead as _};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [count, profile] => {
            let profile = Profile::of((profile != "legacy").then_some(profile));
            for number in 0..count.parse().expect("a count") {
                println!("{}", stream(number).report(profile));
            }
        }
        ["read"] => io::stdin().lock().lines().for_each(|line| read(&line.expect("a line"))),
        _ => panic!("expected a count and a profile, or `read`"),
    }
}

fn read(line: &str) {
    let body: Value = serde_json::from_str(line).expect("JSON");
    let mut events: Vec<Event> = Vec::new();
    if let Some(text) = body["sse"].as_str() {
        let mut decoder = sse::Decoder::default();
        decoder.push(text.as_bytes());
        while let Some(frame) = decoder.next_frame() {
            events.push(frame.expect("a frame").decode().expect("an event"));
        }
    } else {
        let hex = body["protobuf"].as_str().expect("a body");
        let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex");
        let mut decoder = proto::Decoder::default();
        decoder.push(&(0..hex.len()).step_by(2).map(digit).collect::<Vec<_>>());
        while let Some(frame) = decoder.next_frame() {
            let Frame::Event(event) = frame.expect("a frame") else { panic!("an unknown event") };
            events.push(event);
        }
    }
    println!("{}", serde_json::to_string(&events).expect("JSON"));
}
