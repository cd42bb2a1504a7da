//! `$((…))` of a shell, where it is made of numbers alone.
//!
//! ```text
//! sum      = product { ("+" | "-") product }
//! product  = factor { ("*" | "/" | "%") factor }
//! factor   = number | "(" sum ")"
//! number   = digits | "0x" hex digits                 a leading zero would be octal: not read
//! ```
//!
//! A shell works in 64 bits with a sign; what leaves them, divides by zero or names a variable is left as written.

/// How deep brackets may nest.
const DEPTH: u32 = 32;

/// The value of what stands between `$((` and `))`, if it is one that needs no variable and is not negative.
pub(super) fn value(text: &str) -> Option<u64> {
    let mut reader = Reader { rest: text };
    let value = reader.sum(DEPTH)?;
    reader.blanks();
    (reader.rest.is_empty() && value >= 0).then_some(value as u64)
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    /// The operator here, if it is one of `wanted`, which is stepped over.
    fn operator(&mut self, wanted: &[char]) -> Option<char> {
        self.blanks();
        let operator = self.rest.chars().next().filter(|c| wanted.contains(c))?;
        let behind = &self.rest[1..];
        // "**" and "<<" are others
        if behind.starts_with(operator) {
            return None;
        }
        self.rest = behind;
        Some(operator)
    }

    fn sum(&mut self, depth: u32) -> Option<i64> {
        let mut sum = self.product(depth)?;
        while let Some(operator) = self.operator(&['+', '-']) {
            let next = self.product(depth)?;
            sum = match operator {
                '+' => sum.checked_add(next)?,
                _ => sum.checked_sub(next)?,
            };
        }
        Some(sum)
    }

    fn product(&mut self, depth: u32) -> Option<i64> {
        let mut product = self.factor(depth)?;
        while let Some(operator) = self.operator(&['*', '/', '%']) {
            let next = self.factor(depth)?;
            product = match operator {
                '*' => product.checked_mul(next)?,
                '/' => product.checked_div(next)?,
                _ => product.checked_rem(next)?,
            };
        }
        Some(product)
    }

    fn factor(&mut self, depth: u32) -> Option<i64> {
        self.blanks();
        if let Some(inner) = self.rest.strip_prefix('(') {
            self.rest = inner;
            let value = self.sum(depth.checked_sub(1)?)?;
            self.blanks();
            self.rest = self.rest.strip_prefix(')')?;
            return Some(value);
        }
        let hex = self.rest.strip_prefix("0x");
        let digits = hex.unwrap_or(self.rest);
        let end = digits
            .bytes()
            .position(|b| match hex {
                Some(_) => !b.is_ascii_hexdigit(),
                None => !b.is_ascii_digit(),
            })
            .unwrap_or(digits.len());
        let (number, rest) = digits.split_at(end);
        if hex.is_none() && number.len() > 1 && number.starts_with('0') {
            return None;
        }
        self.rest = rest;
        i64::from_str_radix(number, if hex.is_some() { 16 } else { 10 }).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_computed_and_all_else_is_left() {
        for (text, wanted) in [
            ("1024*1024", Some(1_048_576)),
            ("2048 -1 ", Some(2047)),
            ("0x20", Some(32)),
            ("(2 + 3) * 4 / 2 % 7", Some(3)),
            ("10 - 2 - 3", Some(5)),
            ("bs*4", None),
            ("$n * 4", None),
            ("1 - 2", None),
            ("1 / 0", None),
            ("2 ** 10", None),
            ("1 << 20", None),
            ("010", None),
            ("9223372036854775807 + 1", None),
            ("", None),
            ("4)", None),
        ] {
            assert_eq!(value(text), wanted, "{text}");
        }
        assert_eq!(value(&"(".repeat(100_000)), None);
    }

    proptest! {
        #[test]
        fn products_are_those_of_rust(a in 0u32..1 << 30, b in 0u32..1 << 30) {
            prop_assert_eq!(value(&format!("{a}*{b}")), Some(u64::from(a) * u64::from(b)));
        }

        #[test]
        fn any_text_is_borne(text in "[0-9x()*/%+ -]{0,30}") {
            let _ = value(&text);
        }
    }
}
