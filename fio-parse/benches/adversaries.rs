//! Texts that would take a careless reader forever or eat the machine's memory, in any size.

/// A name and what is repeated.
pub const REPEATED: &[(&str, &str)] = &[
    ("one line of x", "x"),
    ("one line of {", "{"),
    ("one line of blanks", " "),
    ("one line of digits", "7"),
    ("one line of READ: bw=", "READ: bw="),
    ("one line of fio words", "fio --name=a "),
    ("one line of --name=a", "--name=a "),
    ("one line of dd if=", "dd if="),
    ("one line of $a", "$a"),
    ("one line of quotes", "\"'`"),
    ("one line of semicolons", "a;"),
    ("one line of commas", "1, "),
    ("one line of colons", "a: "),
    ("one line of |", "| "),
    ("one line of >", "> "),
    ("one line of &gt;", "&gt;"),
    ("one line of percentiles", "1.00th=[  5], "),
    ("one line of returns", "READ: bw=1MiB/s (1MB/s)\r"),
    ("one line of copied,", "1 bytes copied, 1 s, 1 B/s "),
    ("lines of {", "{\n"),
    ("lines of [", "[\n"),
    ("lines of \"a\": {", "\"a\": {\n"),
    (
        "documents cut off",
        "{\"fio version\": \"fio-3.1\", \"jobs\": [\n",
    ),
    ("documents without jobs", "{\"fio version\": \"fio-3.1\"}\n"),
    ("empty lines", "\n"),
    ("quoted empty lines", "> \n"),
    ("quotes in quotes", "> > > > > > > > > > > > > > > >\n"),
    ("headings", "# a\n"),
    (
        "headings of all levels",
        "# a\n## b\n### c\n#### d\n##### e\n",
    ),
    ("captions", "a machine\n\n"),
    ("paragraphs", "it is said that this is so\n"),
    (
        "unfinished job sections",
        "a: (groupid=0, jobs=1): err= 0: pid=1: Mon Jan  1 00:00:00 2024\n",
    ),
    (
        "job sections",
        "a: (groupid=0, jobs=1): err= 0: pid=1: Mon Jan  1 00:00:00 2024\n  read: IOPS=10, BW=40KiB/s (41kB/s)(4096KiB/102400msec)\n",
    ),
    (
        "loose lines",
        "     lat (usec): min=1, max=2, avg=1.50, stdev=0.50\n",
    ),
    (
        "percentiles without end",
        "     |  1.00th=[    5],  5.00th=[    6],\n",
    ),
    ("group heads", "Run status group 0 (all jobs):\n"),
    (
        "group lines",
        "  READ: bw=1MiB/s (1049kB/s), 1MiB/s-1MiB/s (1049kB/s-1049kB/s), io=1MiB (1049kB), run=1000-1000msec\n",
    ),
    (
        "header lines",
        "a: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1\n",
    ),
    ("versions", "fio-3.33\n"),
    ("commands of dd", "dd if=a of=b\n"),
    ("commands of dd in HTML", "dd if=a of=b &amp;&amp; sync\n"),
    ("commands of fio", "fio --name=a --rw=read\n"),
    ("commands that go on", "fio --name=a \\\n"),
    (
        "commands of unknown options",
        "fio --namme=a --zizze=b --rwx\n",
    ),
    (
        "reports of dd",
        "1+0 records in\n1+0 records out\n512 bytes copied, 1 s, 512 B/s\n",
    ),
    ("records in", "1+0 records in\n"),
    ("real", "real\t0m1.000s\n"),
    ("time without end", "real 1.0\nuser 1.0\n"),
    ("terse lines cut off", "3;fio-3.33;a;0;0;1;2;3\n"),
    ("samples", "1, 2, 0, 4096, 0, 0\n"),
    ("fences", "```\n"),
    ("table rows", "| a | b | 1 MB/s |\n"),
    ("clients", "<host> a: (groupid=0, jobs=1): err= 0: pid=1\n"),
    (
        "errors",
        "fio: pid=1, err=5/file:x.c:1, func=io_u error, error=Input/output error\n",
    ),
    ("terminal titles", "\u{1b}]a"),
];

/// `piece` over and over, until the text has `size` bytes.
pub fn text(piece: &str, size: usize) -> String {
    piece.repeat(size.div_ceil(piece.len()))
}

/// One command whose jobs inherit as much as can be written on a line, over and over.
pub fn heirs(size: usize) -> String {
    let mut line = "fio".to_owned();
    for option in 0..200 {
        line.push_str(&format!(" --x{option}=1"));
    }
    line.push_str(&" --name=a".repeat(200));
    line.push('\n');
    text(&line, size)
}
