//! A standard error that accepts no writes does not stop the gateway.
use crate::gateway::{command, http, input, script, soon};
use crate::run::Run;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::File;
use std::io::Write;
use std::process::Stdio;
use std::thread;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::Child;

/// Starts a gateway with a full log to an unwritable standard error; returns its address.
async fn logging_to(stderr: impl Into<Stdio>, agent: &[&str]) -> (Child, String) {
    // A process that cannot log its address gets one.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut gateway = command(&["--no-auth", "--listen", &free.to_string()]);
    gateway.args(agent);
    let mut child = gateway.env("RUST_LOG", "trace").stderr(stderr).spawn().unwrap();
    let address = match child.stderr.take() {
        Some(stderr) => {
            let mut lines = BufReader::new(stderr).lines();
            loop {
                let line = soon(lines.next_line()).await.unwrap().unwrap();
                if let Some(address) = line.strip_prefix("listening on http://") {
                    // Drops the read lines and the pipe.
                    break address.to_owned();
                }
            }
        }
        None => {
            soon(async {
                while TcpStream::connect(free).await.is_err() {
                    tokio::task::yield_now().await;
                }
            })
            .await;
            free.to_string()
        }
    };
    (child, address)
}

/// Runs a word of the demo agent in a gateway without a log, then ends it.
async fn works(mut child: Child, address: &str) {
    let client = http().build().unwrap();
    for run in ["1", "2", "3"] {
        let input = input("t", run, "noise");
        let chat = client.post(format!("http://{address}/api/ai/chat")).json(&input);
        let told = Run::new(&input, soon(chat.send()).await.unwrap()).rest().await;
        assert_eq!(told.end(), "success");
    }
    kill(Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap()), Signal::SIGTERM).unwrap();
    assert!(soon(child.wait()).await.unwrap().success());
}

#[tokio::test]
async fn full_disk_stops_only_the_log() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let (child, address) = logging_to(full, &[]).await;
    works(child, &address).await;
}

#[tokio::test]
async fn closed_log_stops_nothing() {
    let (child, address) = logging_to(Stdio::piped(), &[]).await;
    works(child, &address).await;
}

/// A full pipe blocks its writers.
#[tokio::test]
async fn unread_log_stops_nothing() {
    // An agent that floods its standard error is not blocked either; on Linux, its guard reads it.
    let flooding = script("floods-errors");
    let flooding = ["--agent", &flooding, "--exit-grace", "0"];
    for agent in
        [&[][..], &flooding].into_iter().take(if cfg!(target_os = "linux") { 2 } else { 1 })
    {
        let (unread, write) = std::io::pipe().unwrap();
        let mut filling = write.try_clone().unwrap();
        let filled = thread::spawn(move || filling.write_all(&[b'x'; 1 << 20]));
        let (child, address) = logging_to(write, agent).await;
        works(child, &address).await;
        drop(unread);
        assert!(filled.join().unwrap().is_err(), "it was full all the time");
    }
}
