use jsonrpc_core::framing::{FrameError, Lines};

/// A stream gives the same lines however it is cut. The first byte is the limit, the next three say how to cut.
pub fn lines(data: &[u8]) {
    let Some((&[limit, sizes @ ..], stream)) = data.split_first_chunk::<4>() else { return };
    let limit = usize::from(limit);
    let mut whole = Lines::new(limit);
    whole.push(stream);
    let expected = rest(whole);

    let (mut cut, mut found, mut left) = (Lines::new(limit), Vec::new(), stream);
    for size in sizes.iter().cycle() {
        let (chunk, behind) = left.split_at(left.len().min(usize::from(*size) + 1));
        cut.push(chunk);
        // Some pieces come faster than their lines are taken.
        if size % 2 == 0 {
            found.extend(core::iter::from_fn(|| cut.next().map(|line| line.map(str::to_owned))));
        }
        left = behind;
        if left.is_empty() {
            break;
        }
    }
    found.extend(rest(cut));
    assert_eq!(found, expected);
    for line in found.into_iter().flatten() {
        assert!(line.len() <= limit && !line.contains('\n'));
        assert!(!line.trim_matches([' ', '\t', '\r']).is_empty());
    }
}

fn rest(mut lines: Lines) -> Vec<Result<String, FrameError>> {
    lines.finish();
    core::iter::from_fn(|| lines.next().map(|line| line.map(str::to_owned))).collect()
}
