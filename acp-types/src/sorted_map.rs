//! A map as a sorted list.
//!
//! The maps of a connection and of a session are bounded. A B-tree generates about ten thousand
//! lines of LLVM IR for each pair of types, a sorted list a few hundred. Lookups take logarithmic
//! time in both.
use alloc::vec::Vec;
use core::borrow::Borrow;

/// A map, ordered by key. Large values are boxed by the caller, since an insertion moves the later
/// entries.
#[derive(Clone, Debug)]
pub(crate) struct SortedMap<K, V>(Vec<(K, V)>);

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    /// Returns the position of a key, or the position at which it belongs.
    fn position<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.0.binary_search_by(|(other, _)| other.borrow().cmp(key))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.position(key).is_ok()
    }

    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let at = self.position(key).ok()?;
        self.0.get(at).map(|(_, value)| value)
    }

    pub(crate) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let at = self.position(key).ok()?;
        self.0.get_mut(at).map(|(_, value)| value)
    }

    /// Adds an entry, or replaces the value of its key.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        match self.position(&key) {
            Ok(at) => {
                if let Some((_, current)) = self.0.get_mut(at) {
                    *current = value;
                }
            }
            Err(at) => self.0.insert(at, (key, value)),
        }
    }

    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let at = self.position(key).ok()?;
        Some(self.0.remove(at).1)
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&K, &V) -> bool) {
        self.0.retain(|(key, value)| keep(key, value));
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the entry with the lowest key.
    pub(crate) fn first(&self) -> Option<&(K, V)> {
        self.0.first()
    }

    /// Returns the entries, by key.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.0.iter_mut().map(|(key, value)| (&*key, value))
    }
}

#[cfg(feature = "convert")]
impl<K: Ord, V> SortedMap<K, V> {
    /// Returns the value of a key, after inserting a missing entry.
    #[expect(clippy::indexing_slicing, reason = "the index is that of an entry")]
    pub(crate) fn get_or_insert_with<Q: Ord + ?Sized>(
        &mut self,
        key: &Q,
        make: impl FnOnce() -> (K, V),
    ) -> &mut V
    where
        K: Borrow<Q>,
    {
        let at = self.position(key).unwrap_or_else(|at| {
            self.0.insert(at, make());
            at
        });
        &mut self.0[at].1
    }
}

#[cfg(test)]
mod tests {
    use super::SortedMap;
    use alloc::collections::BTreeMap;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        /// A map agrees with a B-tree after any insertions and removals.
        #[test]
        fn behaves_as_a_tree(steps in prop::collection::vec((0..20_u8, any::<Option<u16>>()), 0..60)) {
            let mut map = SortedMap::default();
            let mut tree = BTreeMap::new();
            for (key, value) in steps {
                match value {
                    Some(value) if value % 2 == 0 => {
                        map.insert(key, value);
                        tree.insert(key, value);
                    }
                    Some(value) => prop_assert_eq!(
                        map.get_or_insert_with(&key, || (key, value)),
                        tree.entry(key).or_insert(value)
                    ),
                    None => prop_assert_eq!(map.remove(&key), tree.remove(&key)),
                }
                prop_assert_eq!(map.get(&key), tree.get(&key));
                prop_assert_eq!(map.get_mut(&key).copied(), tree.get(&key).copied());
                prop_assert_eq!(map.len(), tree.len());
                prop_assert_eq!(map.contains_key(&key), tree.contains_key(&key));
                prop_assert_eq!(map.first().map(|(key, _)| key), tree.keys().next());
            }
            prop_assert_eq!(map.iter_mut().collect::<Vec<_>>(), tree.iter_mut().collect::<Vec<_>>());
            map.retain(|key, _| key % 2 == 0);
            tree.retain(|key, _| key % 2 == 0);
            prop_assert_eq!(map.iter().collect::<Vec<_>>(), tree.iter().collect::<Vec<_>>());
        }
    }
}
