//! What came of requests of ours, until somebody takes it.
use super::RequestError;
use crate::wire::Raw;
use alloc::vec::Vec;
use core::mem;
use core::task::{Context as Task, Poll, Waker};

pub(super) type Outcome = Result<Raw, RequestError>;

/// Names a place among the [`Replies`], as long as somebody holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(usize);

/// A place for each request of ours that somebody waits for.
#[derive(Debug, Default)]
pub(super) struct Replies {
    places: Vec<Reply>,
    free: Vec<Place>,
}

#[derive(Debug, Default)]
pub(super) enum Reply {
    #[default]
    Free,
    Awaited(Option<Waker>),
    There(Outcome),
}

impl Replies {
    /// A place to wait at.
    pub(super) fn open(&mut self) -> Place {
        let place = self.free.pop().unwrap_or(Place(self.places.len()));
        match self.places.get_mut(place.0) {
            Some(reply) => *reply = Reply::Awaited(None),
            None => self.places.push(Reply::Awaited(None)),
        }
        place
    }

    /// Puts an outcome at its place, and gives who waits there.
    pub(super) fn put(&mut self, place: Place, outcome: Outcome) -> Option<Waker> {
        match self.places.get_mut(place.0) {
            Some(reply @ Reply::Awaited(_)) => match mem::replace(reply, Reply::There(outcome)) {
                Reply::Awaited(waker) => waker,
                Reply::Free | Reply::There(_) => None,
            },
            _ => None,
        }
    }

    /// Takes the outcome, with which the place is nobody's.
    pub(super) fn poll(&mut self, place: Place, task: &mut Task<'_>) -> Poll<Outcome> {
        match self.places.get_mut(place.0) {
            Some(Reply::Awaited(Some(waker))) => waker.clone_from(task.waker()),
            Some(Reply::Awaited(waker)) => *waker = Some(task.waker().clone()),
            Some(Reply::There(_)) => {
                if let Reply::There(outcome) = self.close(place) {
                    return Poll::Ready(outcome);
                }
            }
            Some(Reply::Free) | None => {}
        }
        Poll::Pending
    }

    /// Gives up a place, with what is there.
    pub(super) fn close(&mut self, place: Place) -> Reply {
        let reply = self.places.get_mut(place.0).map(mem::take).unwrap_or_default();
        if !matches!(reply, Reply::Free) {
            self.free.push(place);
        }
        reply
    }
}
