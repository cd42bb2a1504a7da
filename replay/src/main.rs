//! `fio-replay`: see `fio-replay --help`. Everything is in the library; here are the doors.

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::Parser;
use replay::cli::Arguments;
use replay::session::Session;

fn main() -> ExitCode {
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
