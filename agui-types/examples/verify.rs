//! Checks the order of a recorded stream, and prints the first rule that it breaks.
#![allow(clippy::print_stdout, reason = "the output of the program")]

use agui_types::event::Event;
use agui_types::sse::Decoder;
use agui_types::verify::{Verifier, Violation};
use std::error::Error;

const RECORDED: &str = r#"data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}

data: {"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}

data: {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Hello."}

data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"}

"#;

fn main() -> Result<(), Box<dyn Error>> {
    match verify(RECORDED)? {
        Ok(()) => println!("The stream is valid."),
        Err(violation) => {
            println!("{violation}");
            println!("See {}", violation.rule().link());
        }
    }
    Ok(())
}

fn verify(body: &str) -> Result<Result<(), Violation>, Box<dyn Error>> {
    let mut decoder = Decoder::default();
    let mut verifier = Verifier::strict();
    decoder.push(body.as_bytes());
    decoder.finish();
    while let Some(frame) = decoder.next_frame() {
        let event: Event = frame?.decode()?;
        if let Err(violation) = verifier.handle(&event) {
            return Ok(Err(violation));
        }
    }
    Ok(verifier.finish())
}
