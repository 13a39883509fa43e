//! A map of requests, optimized for few entries.
use crate::RequestId;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Largest number of entries that are searched linearly.
const FEW: usize = 8;

/// A map by request id. Usually few requests are open, for which a tree is expensive.
#[derive(Debug)]
pub(crate) struct IdMap<T> {
    /// Up to [`FEW`] entries, unordered.
    few: Vec<(RequestId, T)>,
    /// Further entries.
    many: BTreeMap<RequestId, T>,
}

impl<T> IdMap<T> {
    pub(crate) const fn new() -> Self {
        Self { few: Vec::new(), many: BTreeMap::new() }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.few.len() + self.many.len()
    }

    pub(crate) fn contains(&self, id: &RequestId) -> bool {
        self.place(id).is_some() || self.many.contains_key(id)
    }

    pub(crate) fn get_mut(&mut self, id: &RequestId) -> Option<&mut T> {
        match self.place(id).and_then(|place| self.few.get_mut(place)) {
            Some((_, value)) => Some(value),
            None => self.many.get_mut(id),
        }
    }

    /// Inserts an entry. The id must not be present.
    pub(crate) fn insert(&mut self, id: RequestId, value: T) {
        if self.few.len() < FEW {
            self.few.push((id, value));
        } else {
            self.many.insert(id, value);
        }
    }

    /// Removes an entry, and returns the id as it was inserted.
    pub(crate) fn remove(&mut self, id: &RequestId) -> Option<(RequestId, T)> {
        match self.place(id) {
            Some(place) => Some(self.few.swap_remove(place)),
            None => self.many.remove_entry(id),
        }
    }

    /// Removes the entry with the smallest id.
    pub(crate) fn pop_first(&mut self) -> Option<(RequestId, T)> {
        let few = self.few.iter().map(|(id, _)| id).min();
        match (few, self.many.keys().next()) {
            (Some(few), Some(many)) if many < few => self.many.pop_first(),
            (Some(few), _) => self.remove(&few.clone()),
            (None, _) => self.many.pop_first(),
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new();
    }

    #[inline]
    fn place(&self, id: &RequestId) -> Option<usize> {
        self.few.iter().position(|(known, _)| known == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The map behaves as a tree, for few and for many entries.
    #[test]
    fn it_is_a_map() {
        let mut map = IdMap::new();
        let mut tree = BTreeMap::new();
        // Numbers that rise and fall, with repetitions.
        let mut number: i64 = 1;
        for step in 0..2_000 {
            number = number * 75 % 65_537;
            let id = RequestId::from(number % (if step < 1_000 { 40 } else { 12 }));
            assert_eq!(map.contains(&id), tree.contains_key(&id));
            assert_eq!(map.get_mut(&id), tree.get_mut(&id));
            match number % 5 {
                0 | 1 => assert_eq!(map.remove(&id), tree.remove_entry(&id)),
                2 if number % 7 == 0 => assert_eq!(map.pop_first(), tree.pop_first()),
                _ if tree.contains_key(&id) => {}
                _ => {
                    map.insert(id.clone(), step);
                    tree.insert(id, step);
                }
            }
            assert_eq!(map.len(), tree.len());
        }
        assert!(map.len() > 0);
        while let Some(first) = map.pop_first() {
            assert_eq!(Some(first), tree.pop_first());
        }
        assert!(tree.is_empty());
    }
}
