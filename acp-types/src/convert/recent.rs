//! A map with a bound, which forgets its oldest entry.
use crate::sorted_map::SortedMap;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;

/// Values by id. Past the limit, the oldest value that may be forgotten is forgotten.
#[derive(Debug)]
pub(super) struct Recent<V> {
    values: SortedMap<String, Box<Entry<V>>>,
    /// Number of values that were made.
    made: u64,
    limit: usize,
}

#[derive(Debug)]
struct Entry<V> {
    /// Number of values that were made before.
    age: u64,
    value: V,
}

impl<V> Recent<V> {
    pub(super) fn new(limit: usize) -> Self {
        Self { values: SortedMap::default(), made: 0, limit }
    }

    pub(super) fn get(&self, id: &str) -> Option<&V> {
        self.values.get(id).map(|entry| &entry.value)
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut V> {
        self.values.get_mut(id).map(|entry| &mut entry.value)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.values.iter().map(|(id, entry)| (&**id, &entry.value))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut V)> {
        self.values.iter_mut().map(|(id, entry)| (&**id, &mut entry.value))
    }

    pub(super) fn remove(&mut self, id: &str) -> Option<V> {
        self.values.remove(id).map(|entry| entry.value)
    }

    /// Returns the value of an id, after making it. `is_over` decides which values may be
    /// forgotten.
    pub(super) fn entry(
        &mut self,
        id: &str,
        is_over: impl Fn(&V) -> bool,
        make: impl FnOnce() -> V,
    ) -> &mut V {
        if self.values.len() >= self.limit && !self.values.contains_key(id) {
            self.remove_oldest(|_, value| is_over(value));
        }
        let made = &mut self.made;
        let entry = self.values.get_or_insert_with(id, || {
            *made += 1;
            (id.to_owned(), Box::new(Entry { age: *made, value: make() }))
        });
        &mut entry.value
    }

    /// Forgets the oldest value other than that of `id`, and returns whether there was one.
    pub(super) fn forget_oldest(&mut self, id: &str) -> bool {
        self.remove_oldest(|other, _| other != id)
    }

    fn remove_oldest(&mut self, may_go: impl Fn(&str, &V) -> bool) -> bool {
        let candidates = self.values.iter().filter(|(id, entry)| may_go(id, &entry.value));
        let oldest = candidates.min_by_key(|(_, entry)| entry.age).map(|(id, _)| id.clone());
        oldest.and_then(|id| self.values.remove(&id)).is_some()
    }
}
