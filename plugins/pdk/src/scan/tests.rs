//! Tests every finder with a match at every position.

use super::*;

#[test]
fn the_first_marked_byte_is_found_at_any_position() {
    for length in 0..70 {
        for at in 0..length {
            let mut bytes = vec![b'a'; length];
            bytes[at] = b'"';
            for from in 0..=at {
                assert_eq!(find(&bytes, from, |here| here.is(b'"')), Some(at));
            }
            assert_eq!(find(&bytes, at + 1, |here| here.is(b'"')), None);
        }
    }
}

#[test]
fn the_second_of_a_pair_is_found_at_any_position() {
    for length in 2..70 {
        for at in 1..length {
            let mut bytes = vec![b'a'; length];
            bytes[at - 1..=at].fill(b' ');
            for from in 0..at {
                assert_eq!(
                    find_or_twice(&bytes, from, |here| here.is(b'\n'), b' '),
                    Some(at),
                    "{length}"
                );
            }
            assert_eq!(find_or_twice(&bytes, at, |here| here.is(b'\n'), b' '), None);
        }
    }
}

#[test]
fn marks_before_a_near_end_are_noticed_and_marks_behind_it_are_not() {
    let found = |bytes: &[u8]| find_soon(bytes, |here| here.is(b'<'), |here| here.is(b'\n'), b' ');
    assert_eq!(found(b"aaaaaaaaaaaaaaa<a<"), Some((15, true)));
    assert_eq!(found(b"aaaaaaaaaaaaaaaa<"), None, "less than sixteen more");
    assert_eq!(found(b"a<"), None);
    for end in 0..4 * WIDTH {
        let mut bytes = vec![b'a'; 5 * WIDTH];
        bytes[end] = b'<';
        assert_eq!(found(&bytes), Some((end, true)));
        for at in (0..4 * WIDTH).filter(|at| *at != end) {
            bytes[at] = b'\n';
            assert_eq!(found(&bytes), Some((end, at > end)));
            bytes[at] = b' ';
            assert_eq!(found(&bytes), Some((end, true)));
            if at > 0 && at - 1 != end {
                bytes[at - 1] = b' ';
                assert_eq!(found(&bytes), Some((end, at > end)), "{end} {at}");
                bytes[at - 1] = b'a';
            }
            bytes[at] = b'a';
        }
    }
    assert_eq!(found(&[b'a'; 5 * WIDTH]), None, "too far away");
}

#[test]
fn a_mark_before_a_near_end_is_found_with_it() {
    let found = |bytes: &[u8]| find_with_first(bytes, |here| here.is(b'<'), |here| here.is(b':'));
    assert_eq!(found(&[b'a'; 3 * WIDTH]), None);
    assert_eq!(find_at_once(&[b'a'; 3 * WIDTH], |here| here.is(b'<')), None);
    for end in 0..2 * WIDTH {
        let mut bytes = vec![b'a'; 2 * WIDTH];
        bytes[end] = b'<';
        assert_eq!(found(&bytes), Some((end, None)));
        let at_once = find_at_once(&bytes, |here| here.is(b'<'));
        assert_eq!(at_once, (end < WIDTH).then_some(end));
        for at in 0..end {
            bytes[at..end].fill(b':');
            assert_eq!(found(&bytes), Some((end, Some(at))));
            bytes[at..end].fill(b'a');
        }
        bytes[end + 1..].fill(b':');
        assert_eq!(found(&bytes), Some((end, None)));
    }
}

#[test]
fn single_spaces_are_no_pair_and_what_is_marked_is_found_among_them() {
    for length in 1..70 {
        let mut bytes: Vec<u8> = b" a".iter().copied().cycle().take(length).collect();
        assert_eq!(find_or_twice(&bytes, 0, |here| here.is(b'\n'), b' '), None);
        for at in 0..length {
            let byte = std::mem::replace(&mut bytes[at], b'\n');
            assert_eq!(find_or_twice(&bytes, 0, |here| here.is(b'\n'), b' '), Some(at));
            bytes[at] = byte;
        }
    }
}

#[test]
fn pieces_are_the_same_when_every_byte_is() {
    for length in 0..50_u8 {
        let piece: Vec<u8> = (0..length).collect();
        assert!(same(&piece, &piece.clone()));
        assert!(!same(&piece, &[&piece[..], b"x"].concat()));
        for at in 0..piece.len() {
            let mut changed = piece.clone();
            changed[at] ^= 0x80;
            assert!(!same(&piece, &changed), "{length} {at}");
        }
    }
}

#[test]
fn ranges_include_both_ends_and_nothing_else() {
    for byte in 0..=255 {
        let found = find(&[byte], 0, |here| here.in_range(0xE1, 3)).is_some();
        assert_eq!(found, (0xE1..=0xE3).contains(&byte), "{byte}");
    }
}
