//! Tables of a connection with a bound. The oldest entry leaves first.
use std::collections::{BTreeMap, VecDeque};

/// Longest key, in bytes. Entries with a longer key are not kept.
const MAX_KEY_BYTES: usize = 1024;

/// Values by session and id, at most `N`.
#[derive(Clone, Debug)]
pub(crate) struct RecentValues<T, const N: usize> {
    values: BTreeMap<(String, String), T>,
    order: VecDeque<(String, String)>,
}

impl<T, const N: usize> Default for RecentValues<T, N> {
    fn default() -> Self {
        Self { values: BTreeMap::new(), order: VecDeque::new() }
    }
}

impl<T, const N: usize> RecentValues<T, N> {
    pub(crate) fn get(&self, key: &(String, String)) -> Option<&T> {
        self.values.get(key)
    }

    pub(crate) fn insert(&mut self, key: (String, String), value: T) {
        if key.0.len() + key.1.len() > MAX_KEY_BYTES {
            return;
        }
        if self.values.insert(key.clone(), value).is_some() {
            return;
        }
        self.order.push_back(key);
        if self.order.len() > N
            && let Some(oldest) = self.order.pop_front()
        {
            self.values.remove(&oldest);
        }
    }

    pub(crate) fn remove(&mut self, key: &(String, String)) -> Option<T> {
        let removed = self.values.remove(key)?;
        self.order.retain(|kept| kept != key);
        Some(removed)
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
