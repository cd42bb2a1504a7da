//! The `fio-compare` binary; everything is in [`compare::cli`].

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use compare::cli::{self, Terminal};

fn main() -> ExitCode {
    let stdout = io::stdout();
    let terminal = Terminal {
        width: stdout
            .is_terminal()
            .then(|| cli::usable_width(comfy_table::Table::new().width())),
        no_color: std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()),
        stdin: io::stdin().is_terminal(),
    };
    let status = cli::run(
        std::env::args_os(),
        &mut io::stdin().lock(),
        &mut stdout.lock(),
        &mut io::stderr().lock(),
        terminal,
    );
    ExitCode::from(status)
}
