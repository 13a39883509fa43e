//! A map with a bound, which forgets its oldest entry.
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;

/// Values by id. Past the limit, the oldest value that may be forgotten is forgotten.
#[derive(Debug)]
pub(super) struct Recent<V> {
    values: BTreeMap<String, V>,
    /// The ids, oldest first.
    order: VecDeque<String>,
    limit: usize,
}

impl<V> Recent<V> {
    pub(super) fn new(limit: usize) -> Self {
        Self { values: BTreeMap::new(), order: VecDeque::new(), limit }
    }

    pub(super) fn get(&self, id: &str) -> Option<&V> {
        self.values.get(id)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.values.values()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.values.iter().map(|(id, value)| (&**id, value))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut V)> {
        self.values.iter_mut().map(|(id, value)| (&**id, value))
    }

    pub(super) fn remove(&mut self, id: &str) -> Option<V> {
        let value = self.values.remove(id)?;
        self.order.retain(|known| known != id);
        Some(value)
    }

    /// Returns the value of an id, after making it. `is_over` decides which values may be forgotten.
    pub(super) fn entry(
        &mut self,
        id: &str,
        is_over: impl Fn(&V) -> bool,
        make: impl FnOnce() -> V,
    ) -> &mut V {
        if !self.values.contains_key(id) {
            if self.values.len() >= self.limit {
                let oldest = |id: &String| self.values.get(id).is_none_or(&is_over);
                if let Some(index) = self.order.iter().position(oldest)
                    && let Some(oldest) = self.order.remove(index)
                {
                    self.values.remove(&oldest);
                }
            }
            self.order.push_back(id.to_owned());
        }
        self.values.entry(id.to_owned()).or_insert_with(make)
    }

    /// Forgets the oldest value other than that of `id`, and returns whether there was one.
    pub(super) fn forget_oldest(&mut self, id: &str) -> bool {
        let index = self.order.iter().position(|known| known != id);
        let oldest = index.and_then(|index| self.order.remove(index));
        oldest.and_then(|oldest| self.values.remove(&oldest)).is_some()
    }
}
