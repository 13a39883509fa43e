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
    /// Values of further entries.
    many: Vec<Option<T>>,
    slots: Slots,
}

/// The places of the values past the first [`FEW`]. A tree of the values would be compiled for each
/// type of value.
#[derive(Debug, Default)]
struct Slots {
    used: BTreeMap<RequestId, usize>,
    free: Vec<usize>,
}

impl Slots {
    fn len(&self) -> usize {
        self.used.len()
    }

    fn get(&self, id: &RequestId) -> Option<usize> {
        self.used.get(id).copied()
    }

    fn first(&self) -> Option<&RequestId> {
        self.used.keys().next()
    }

    /// Assigns a slot: a free one, or the next.
    fn insert(&mut self, id: RequestId) -> usize {
        let slot = self.free.pop().unwrap_or(self.used.len());
        self.used.insert(id, slot);
        slot
    }

    fn remove(&mut self, id: &RequestId) -> Option<(RequestId, usize)> {
        let (id, slot) = self.used.remove_entry(id)?;
        self.free.push(slot);
        Some((id, slot))
    }
}

impl<T> IdMap<T> {
    pub(crate) fn new() -> Self {
        Self { few: Vec::new(), many: Vec::new(), slots: Slots::default() }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.few.len() + self.slots.len()
    }

    pub(crate) fn contains(&self, id: &RequestId) -> bool {
        self.place(id).is_some() || self.slots.get(id).is_some()
    }

    pub(crate) fn get_mut(&mut self, id: &RequestId) -> Option<&mut T> {
        match self.place(id).and_then(|place| self.few.get_mut(place)) {
            Some((_, value)) => Some(value),
            None => self.many.get_mut(self.slots.get(id)?)?.as_mut(),
        }
    }

    /// Inserts an entry. The id must not be present.
    pub(crate) fn insert(&mut self, id: RequestId, value: T) {
        if self.few.len() < FEW {
            self.few.push((id, value));
            return;
        }
        let slot = self.slots.insert(id);
        match self.many.get_mut(slot) {
            Some(free) => *free = Some(value),
            None => self.many.push(Some(value)),
        }
    }

    /// Removes an entry, and returns the id as it was inserted.
    pub(crate) fn remove(&mut self, id: &RequestId) -> Option<(RequestId, T)> {
        match self.place(id) {
            Some(place) => Some(self.few.swap_remove(place)),
            None => {
                let (id, slot) = self.slots.remove(id)?;
                Some((id, self.many.get_mut(slot)?.take()?))
            }
        }
    }

    /// Removes the entry with the smallest id.
    pub(crate) fn pop_first(&mut self) -> Option<(RequestId, T)> {
        let few = self.few.iter().map(|(id, _)| id).min();
        let first = few.into_iter().chain(self.slots.first()).min()?.clone();
        self.remove(&first)
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
