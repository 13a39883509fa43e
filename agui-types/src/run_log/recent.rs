//! The events of a log that are kept as they were sent.
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use bytes::Bytes;
use core::mem;

/// Size of a block, in bytes, up to which further frames are added to it.
const MAX_BLOCK: usize = 64 << 10;

/// Frames in blocks of many: most frames are short, and would cost less than their allocations.
/// Clones share the full blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct RecentFrames {
    /// Full blocks, the oldest first.
    full: VecDeque<Arc<Block>>,
    /// The block of the newest frames.
    open: Block,
    /// Number of removed frames of the first block.
    removed: usize,
    len: usize,
    bytes: usize,
}

/// Successive frames.
#[derive(Clone, Debug, Default)]
struct Block {
    bytes: Vec<u8>,
    /// The end of each frame in `bytes`.
    ends: Vec<usize>,
}

/// Successive frames of one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameRange<'a> {
    block: &'a Block,
    first: usize,
    count: usize,
}

impl RecentFrames {
    /// Returns the number of frames.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the size of the frames.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a frame that consists of these parts.
    pub(super) fn push(&mut self, parts: &[&[u8]]) {
        let size = parts.iter().map(|part| part.len()).sum::<usize>();
        if !self.open.ends.is_empty() && self.open.bytes.len() + size > MAX_BLOCK {
            let next = self.open.next();
            let mut full = mem::replace(&mut self.open, next);
            full.shrink();
            self.full.push_back(full.into());
        }
        self.open.push(parts);
        self.len += 1;
        self.bytes += size;
    }

    /// Frees the capacity behind the last frame.
    pub(super) fn shrink(&mut self) {
        self.open.shrink();
    }

    /// Removes the first frames.
    pub(super) fn remove(&mut self, count: usize) {
        let mut rest = count.min(self.len);
        self.len -= rest;
        while rest > 0 {
            let first = self.full.front().map_or(&self.open, |block| block);
            let left = first.ends.len() - self.removed;
            let taken = rest.min(left);
            let end = self.removed + taken;
            self.bytes -= first.start(end) - first.start(self.removed);
            rest -= taken;
            self.removed = end;
            if taken == left {
                self.removed = 0;
                if self.full.pop_front().is_none() {
                    self.open = Block::default();
                }
            }
        }
    }

    /// Returns the frames in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.ranges(0).flat_map(FrameRange::frames)
    }

    /// Returns the last frame.
    pub(super) fn last(&self) -> Option<&[u8]> {
        let last = self.ranges(self.len.checked_sub(1)?).last()?;
        Some(last.bytes())
    }

    /// Returns the frames from a place on: as many as fit into `max_bytes`, but at least one.
    pub(super) fn batch(&self, place: usize, max_bytes: usize) -> Vec<FrameRange<'_>> {
        let mut batch = Vec::new();
        let mut rest = max_bytes;
        for frames in self.ranges(place) {
            let fitting = frames.fitting(rest);
            let count = if batch.is_empty() { fitting.max(1) } else { fitting };
            let taken = FrameRange { count, ..frames };
            rest = rest.saturating_sub(taken.bytes().len());
            batch.push(taken);
            if fitting < frames.count {
                break;
            }
        }
        batch
    }

    /// Returns the frames from a place on.
    fn ranges(&self, place: usize) -> impl Iterator<Item = FrameRange<'_>> {
        let mut skipped = self.removed.saturating_add(place);
        let full = self.full.iter().map(|block| &**block);
        full.chain([&self.open]).filter_map(move |block| {
            let first = skipped.min(block.ends.len());
            skipped -= first;
            let count = block.ends.len() - first;
            (count > 0).then_some(FrameRange { block, first, count })
        })
    }
}

impl Block {
    /// Returns an empty block for frames like those of this one.
    fn next(&self) -> Self {
        let bytes = Vec::with_capacity(MAX_BLOCK);
        let ends = Vec::with_capacity(self.ends.len());
        Self { bytes, ends }
    }

    fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    fn push(&mut self, parts: &[&[u8]]) {
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.ends.push(self.bytes.len());
    }

    /// Returns the position of a frame.
    fn start(&self, frame: usize) -> usize {
        let before = frame.checked_sub(1).and_then(|before| self.ends.get(before));
        before.copied().unwrap_or_default()
    }

    fn frame(&self, frame: usize) -> Option<&[u8]> {
        self.bytes.get(self.start(frame)..*self.ends.get(frame)?)
    }
}

impl<'a> FrameRange<'a> {
    /// Returns the number of frames.
    pub(super) fn len(self) -> usize {
        self.count
    }

    /// Returns all frames.
    pub(super) fn bytes(self) -> &'a [u8] {
        let end = self.block.start(self.first + self.count);
        self.block.bytes.get(self.block.start(self.first)..end).unwrap_or_default()
    }

    /// Returns a copy of the frames in one allocation.
    pub(super) fn copies(self) -> impl Iterator<Item = Bytes> {
        let bytes = Bytes::copy_from_slice(self.bytes());
        let start = self.block.start(self.first);
        (self.first..self.first + self.count).map(move |frame| {
            let from = self.block.start(frame) - start;
            let until = self.block.start(frame + 1) - start;
            bytes.slice(from..until)
        })
    }

    fn frames(self) -> impl Iterator<Item = &'a [u8]> {
        (self.first..self.first + self.count).filter_map(move |frame| self.block.frame(frame))
    }

    /// Returns the number of the first frames that fit into `max_bytes`.
    fn fitting(self, max_bytes: usize) -> usize {
        let start = self.block.start(self.first);
        let ends = self.block.ends.get(self.first..self.first + self.count).unwrap_or_default();
        ends.partition_point(|end| end - start <= max_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        /// Adds a frame of this size.
        Push(usize),
        Remove(usize),
        /// Goes on with a clone; the other one is kept.
        Clone,
        Shrink,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => (0..MAX_BLOCK / 3).prop_map(Step::Push),
            1 => (0..3 * MAX_BLOCK).prop_map(Step::Push),
            2 => (0..6_usize).prop_map(Step::Remove),
            1 => Just(Step::Clone),
            1 => Just(Step::Shrink),
        ]
    }

    /// Returns the frames of a batch, in two ways.
    fn read(frames: &RecentFrames, place: usize, max_bytes: usize) -> [Vec<Vec<u8>>; 2] {
        let batch = frames.batch(place, max_bytes);
        let copies = batch.iter().flat_map(|frames| frames.copies());
        let copies: Vec<_> = copies.map(|frame| frame.to_vec()).collect();
        let parts = batch.iter().flat_map(|frames| frames.frames()).map(<[u8]>::to_vec).collect();
        let bytes: Vec<_> = batch.iter().map(|frames| frames.bytes()).collect();
        assert_eq!(copies.concat(), bytes.concat());
        assert_eq!(copies.len(), batch.iter().map(|frames| frames.len()).sum::<usize>());
        [copies, parts]
    }

    proptest! {
        /// Frames are those of a list of frames.
        #[test]
        fn frames_are_those_of_a_list(
            steps in prop::collection::vec(step(), 0..60),
            place in 0..20_usize,
            max_bytes in 0..4 * MAX_BLOCK,
        ) {
            let mut frames = RecentFrames::default();
            let mut expected = VecDeque::new();
            let mut clones = Vec::new();
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Push(size) => {
                        let frame = vec![u8::try_from(number).unwrap_or_default(); size];
                        let (start, end) = frame.split_at(size / 2);
                        frames.push(&[start, end]);
                        expected.push_back(frame);
                    }
                    Step::Remove(count) => {
                        frames.remove(count);
                        expected.drain(..count.min(expected.len()));
                    }
                    Step::Clone => clones.push((frames.clone(), expected.clone())),
                    Step::Shrink => frames.shrink(),
                }
            }
            clones.push((frames, expected));
            for (frames, expected) in clones {
                prop_assert!(frames.iter().eq(expected.iter()));
                prop_assert_eq!(frames.len(), expected.len());
                prop_assert_eq!(frames.bytes(), expected.iter().map(Vec::len).sum::<usize>());
                prop_assert_eq!(frames.last(), expected.back().map(|frame| &frame[..]));
                let mut rest = max_bytes;
                let fits = |frame: &&Vec<u8>| {
                    let left = rest.checked_sub(frame.len());
                    rest = left.unwrap_or_default();
                    left.is_some()
                };
                let fitting = expected.iter().skip(place).take_while(fits).count().max(1);
                let batch: Vec<_> = expected.iter().skip(place).take(fitting).cloned().collect();
                prop_assert_eq!(read(&frames, place, max_bytes), [batch.clone(), batch]);
            }
        }
    }
}
