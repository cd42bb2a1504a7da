//! Lexers for the parts of one report line: figures, durations, key=value, versions, look-alike blanks, dashes and quotes.
