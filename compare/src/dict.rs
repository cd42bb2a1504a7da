//! Values numbered by order of first appearance.
//!
//! The frame holds numbers and not texts: a column of 32-bit codes takes a fraction of the memory,
//! groups and joins fast, and sorting by code *is* the order of first appearance, which is the
//! default order of rows and columns.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// A dictionary of values of one kind.
#[derive(Clone, Debug)]
pub struct Dict<T> {
    values: Vec<T>,
    codes: HashMap<T, u32>,
}

impl<T> Default for Dict<T> {
    fn default() -> Self {
        Dict {
            values: Vec::new(),
            codes: HashMap::new(),
        }
    }
}

impl<T: Clone + Eq + Hash> Dict<T> {
    /// The code of a value, a new one if it has not been seen.
    pub fn code<Q>(&mut self, value: &Q) -> u32
    where
        T: Borrow<Q>,
        Q: ?Sized + Eq + Hash + ToOwned<Owned = T>,
    {
        if let Some(code) = self.codes.get(value) {
            return *code;
        }
        let code = self.values.len() as u32;
        self.values.push(value.to_owned());
        self.codes.insert(value.to_owned(), code);
        code
    }

    /// The value of a code.
    pub fn get(&self, code: u32) -> Option<&T> {
        self.values.get(code as usize)
    }

    /// All values in order of first appearance.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Takes over the values of another dictionary; gives the new code of each of its codes.
    pub fn absorb(&mut self, other: Dict<T>) -> Vec<u32> {
        other
            .values
            .into_iter()
            .map(|value| match self.codes.get(&value) {
                Some(code) => *code,
                None => {
                    let code = self.values.len() as u32;
                    self.codes.insert(value.clone(), code);
                    self.values.push(value);
                    code
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_follow_first_appearance() {
        let mut dict: Dict<String> = Dict::default();
        let codes: Vec<u32> = ["b", "a", "b"].iter().map(|v| dict.code(*v)).collect();
        assert_eq!(codes, [0, 1, 0]);
        let mut other: Dict<String> = Dict::default();
        other.code("c");
        other.code("a");
        assert_eq!(dict.absorb(other), [2, 1]);
        assert_eq!(dict.values(), ["b", "a", "c"]);
        assert_eq!(
            (dict.get(2).map(String::as_str), dict.len()),
            (Some("c"), 3)
        );
    }
}
