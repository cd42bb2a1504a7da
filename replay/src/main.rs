//! `fio-replay`: see `fio-replay --help`. Everything is in the library; here are the doors.

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::Parser;
use fio_parse::cli::UNREADABLE;
use replay::cli::{Arguments, misplaced_command};
use replay::session::Session;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    if let Some(message) = misplaced_command(&words) {
        eprintln!("fio-replay: {message}");
        return ExitCode::from(UNREADABLE);
    }
    let arguments = Arguments::parse();
    let stdout = io::stdout();
    let mut out = stdout.lock();
    let session = Session::new(
        arguments,
        io::stdin().is_terminal(),
        io::stderr().is_terminal(),
    );
    let (written, code) = session.run(&mut out);
    fio_parse::cli::end_of_output(written, code, "fio-replay")
}
