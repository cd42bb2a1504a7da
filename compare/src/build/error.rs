//! Why there is no report.

/// A comparison that can't be made as asked.
#[derive(Debug)]
pub enum Error {
    /// The request: no such base, no such metric in the data.
    Request(String),
    /// The pipeline failed; a bug or a lack of memory.
    Pipeline(polars::prelude::PolarsError),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Request(message) => f.write_str(message),
            Error::Pipeline(error) => {
                // polars adds the whole plan below the first line.
                let text = error.to_string();
                write!(
                    f,
                    "the table could not be computed: {}",
                    text.lines().next().unwrap_or("")
                )
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<polars::prelude::PolarsError> for Error {
    fn from(error: polars::prelude::PolarsError) -> Error {
        Error::Pipeline(error)
    }
}
