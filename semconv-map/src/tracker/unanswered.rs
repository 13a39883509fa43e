//! Requests without a response.
use alloc::vec::Vec;
use jsonrpc_core::RequestId;

/// State of each unanswered request, by sender and id.
///
/// Few requests are open at a time, so a sorted vector is used. Lookups do not require an owned id.
#[derive(Debug)]
pub(crate) struct Unanswered<S, T>(Vec<(S, RequestId, T)>);

impl<S: Copy + Ord, T> Unanswered<S, T> {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn get(&self, sender: S, id: &RequestId) -> Option<&T> {
        let place = self.place(sender, id).ok()?;
        self.0.get(place).map(|(_, _, request)| request)
    }

    /// Inserts a request. A previous request with the same sender and id has to be removed before.
    #[inline]
    pub(crate) fn insert(&mut self, sender: S, id: RequestId, request: T) {
        let (Ok(place) | Err(place)) = self.place(sender, &id);
        self.0.insert(place, (sender, id, request));
    }

    #[inline]
    pub(crate) fn remove(&mut self, sender: S, id: &RequestId) -> Option<T> {
        self.remove_if(sender, id, |_| true)
    }

    #[inline]
    pub(crate) fn remove_if(
        &mut self,
        sender: S,
        id: &RequestId,
        picks: impl Fn(&T) -> bool,
    ) -> Option<T> {
        let place = self.place(sender, id).ok()?;
        self.0.get(place).filter(|(_, _, request)| picks(request))?;
        let (_, _, request) = self.0.remove(place);
        Some(request)
    }

    pub(crate) fn retain(&mut self, is_kept: impl Fn(&T) -> bool) {
        self.0.retain(|(_, _, request)| is_kept(request));
    }

    /// Removes and returns the requests that match `picks`, in order of their ids.
    pub(crate) fn take_if(&mut self, picks: impl Fn(&T) -> bool) -> Vec<T> {
        let picked = self.0.extract_if(.., |(_, _, request)| picks(request));
        picked.map(|(_, _, request)| request).collect()
    }

    /// Returns the requests of `sender`.
    pub(crate) fn of(&self, sender: S) -> impl Iterator<Item = &T> {
        let of_sender = self.0.iter().filter(move |(of, _, _)| *of == sender);
        of_sender.map(|(_, _, request)| request)
    }

    #[inline]
    fn place(&self, sender: S, id: &RequestId) -> Result<usize, usize> {
        self.0.binary_search_by(|(of, other, _)| of.cmp(&sender).then_with(|| other.cmp(id)))
    }
}
