//! Requests without a response.
use alloc::vec::Vec;
use jsonrpc_core::RequestId;
use jsonrpc_core::transcript::Direction;

/// State of each unanswered request, by direction and id.
///
/// Few requests are open at a time, so a sorted vector is used. Lookups do not require an owned id.
#[derive(Debug)]
pub(crate) struct PendingRequests<T>(Vec<(Direction, RequestId, T)>);

impl<T> PendingRequests<T> {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn get(&self, direction: Direction, id: &RequestId) -> Option<&T> {
        let place = self.place(direction, id).ok()?;
        self.0.get(place).map(|(_, _, request)| request)
    }

    /// Inserts a request. A previous request with the same direction and id has to be removed
    /// before.
    #[inline]
    pub(crate) fn insert(&mut self, direction: Direction, id: RequestId, request: T) {
        let (Ok(place) | Err(place)) = self.place(direction, &id);
        self.0.insert(place, (direction, id, request));
    }

    #[inline]
    pub(crate) fn remove(&mut self, direction: Direction, id: &RequestId) -> Option<T> {
        self.remove_if(direction, id, |_| true)
    }

    #[inline]
    pub(crate) fn remove_if(
        &mut self,
        direction: Direction,
        id: &RequestId,
        picks: impl Fn(&T) -> bool,
    ) -> Option<T> {
        let place = self.place(direction, id).ok()?;
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

    /// Returns the requests in a direction.
    pub(crate) fn of(&self, direction: Direction) -> impl Iterator<Item = &T> {
        let in_direction = self.0.iter().filter(move |(of, _, _)| *of == direction);
        in_direction.map(|(_, _, request)| request)
    }

    #[inline]
    fn place(&self, direction: Direction, id: &RequestId) -> Result<usize, usize> {
        self.0.binary_search_by(|(of, other, _)| of.cmp(&direction).then_with(|| other.cmp(id)))
    }
}
