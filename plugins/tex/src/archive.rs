//! E-prints: a tar archive, perhaps in gzip, or one file in gzip, with limits on the inflated size.

use carrel_pdk::{Code, Error};
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};

/// Files of one archive.
const MAX_FILES: usize = 10_000;
/// Bytes of an archive after inflating.
const MAX_BYTES: usize = 256 << 20;

/// A file of an e-print.
#[derive(Debug, Clone)]
pub(crate) struct File {
    /// Its path with forward slashes, without `./` in front.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
}

/// What an e-print holds.
#[derive(Debug, Default)]
pub(crate) struct Archive {
    pub(crate) files: Vec<File>,
    /// The archive ends too early or a part of it is broken.
    pub(crate) damaged: bool,
}

fn invalid(message: &str, offset: usize) -> Error {
    Error::invalid_document(message, offset as u64, String::new())
}

/// Unpacks gzip; the second value is true if the end is missing.
fn gunzip(bytes: &[u8]) -> Result<(Vec<u8>, bool), Error> {
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let flags = byte(3);
    let mut at = 10_usize;
    if byte(2) != 8 {
        return Err(invalid("expected gzip by deflate but found another method", 2));
    }
    if flags & 4 != 0 {
        at += 2 + usize::from(u16::from_le_bytes([byte(10), byte(11)]));
    }
    for flag in [8, 16] {
        if flags & flag != 0 {
            let rest = bytes.get(at..).unwrap_or_default();
            at += rest.iter().position(|&byte| byte == 0).unwrap_or(rest.len()) + 1;
        }
    }
    if flags & 2 != 0 {
        at += 2;
    }
    let data = bytes.get(at..).unwrap_or_default();
    match decompress_to_vec_with_limit(data, MAX_BYTES) {
        Ok(content) => Ok((content, false)),
        Err(failure) if failure.status == TINFLStatus::HasMoreOutput => {
            let message = "the e-print inflates to more bytes than are read";
            Err(Error::new(Code::TooLarge, message))
        }
        Err(failure) if failure.output.is_empty() => Err(invalid(
            "expected a gzipped e-print but its bytes cannot be inflated",
            at.min(bytes.len()),
        )),
        Err(failure) => Ok((failure.output, true)),
    }
}

/// Reads an e-print: tar, tar in gzip, or a file in gzip.
pub(crate) fn read(bytes: &[u8]) -> Result<Archive, Error> {
    let mut archive = Archive::default();
    let unpacked;
    let content = if bytes.starts_with(&[0x1F, 0x8B]) {
        (unpacked, archive.damaged) = gunzip(bytes)?;
        unpacked.as_slice()
    } else {
        bytes
    };
    if content.starts_with(b"%PDF") {
        return Err(invalid("expected LaTeX sources but the e-print is a PDF: read it as pdf", 0));
    }
    if content.starts_with(b"PK\x03\x04") {
        return Err(invalid("expected a tar archive but found a zip archive: unpack it first", 0));
    }
    if is_tar(content) {
        untar(content, &mut archive)?;
    } else if content.starts_with(&[0x1F, 0x8B]) {
        return Err(invalid("expected an e-print but found gzip inside gzip", 0));
    } else if content.contains(&b'\\') {
        archive.files.push(File { path: "main.tex".to_owned(), bytes: content.to_vec() });
    } else {
        return Err(invalid("expected an e-print but found neither tar nor LaTeX", 0));
    }
    Ok(archive)
}

fn octal(field: &[u8]) -> Option<usize> {
    if field.first().is_some_and(|first| first & 0x80 != 0) {
        // Base 256, for files larger than any that is read.
        return field
            .iter()
            .skip(1)
            .try_fold(0_usize, |sum, &byte| sum.checked_mul(256)?.checked_add(usize::from(byte)));
    }
    let digits: Vec<u8> = field.iter().copied().filter(|byte| byte.is_ascii_digit()).collect();
    let invalid = field.iter().any(|byte| !byte.is_ascii_digit() && !matches!(byte, 0 | b' '));
    if invalid {
        return None;
    }
    digits
        .iter()
        .try_fold(0_usize, |sum, &digit| sum.checked_mul(8)?.checked_add(usize::from(digit - b'0')))
}

fn is_tar(bytes: &[u8]) -> bool {
    let Some(header) = bytes.get(..512) else { return false };
    let sum = header.get(148..156).and_then(octal);
    let own: usize = header
        .iter()
        .enumerate()
        .map(|(at, &byte)| if (148..156).contains(&at) { 32 } else { usize::from(byte) })
        .sum();
    sum == Some(own)
}

fn text(field: &[u8]) -> String {
    let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).into_owned()
}

/// A path without segments that lead out of the archive.
fn tidy(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split(['/', '\\']) {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
    segments.join("/")
}

fn untar(bytes: &[u8], archive: &mut Archive) -> Result<(), Error> {
    let mut at = 0_usize;
    let mut long: Option<String> = None;
    while let Some(header) = bytes.get(at..at.saturating_add(512)) {
        if header.iter().all(|&byte| byte == 0) {
            return Ok(());
        }
        if !is_tar(header) {
            archive.damaged = true;
            return Ok(());
        }
        let size = header.get(124..136).and_then(octal).unwrap_or(0);
        let start = at + 512;
        let end = start.saturating_add(size).min(bytes.len());
        archive.damaged |= start.saturating_add(size) > bytes.len();
        let content = bytes.get(start..end).unwrap_or_default();
        let mut name = text(&header[..100]);
        if &header[257..262] == b"ustar" {
            let prefix = text(&header[345..500]);
            if !prefix.is_empty() && !prefix.bytes().any(|byte| byte.is_ascii_control()) {
                name = format!("{prefix}/{name}");
            }
        }
        match header[156] {
            b'L' => long = Some(text(content)),
            b'x' => {
                let records = String::from_utf8_lossy(content);
                let path = records.lines().find_map(|line| line.split_once(" path="));
                long = path.map(|(_, path)| path.to_owned()).or(long);
            }
            0 | b'0' | b'7' => {
                let path = tidy(&long.take().unwrap_or(name));
                if archive.files.len() >= MAX_FILES {
                    let message = format!("the archive has more than {MAX_FILES} files");
                    return Err(Error::new(Code::TooLarge, message));
                }
                if !path.is_empty() {
                    archive.files.push(File { path, bytes: content.to_vec() });
                }
            }
            // Links and folders are skipped.
            _ => long = None,
        }
        at = start.saturating_add(size.div_ceil(512).saturating_mul(512));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_inside_the_archive() {
        assert_eq!(tidy("./a/../../../etc/passwd"), "etc/passwd");
    }

    #[test]
    fn what_is_no_e_print_is_named() {
        for (bytes, words) in [
            (&b"%PDF-1.5"[..], "is a PDF"),
            (b"PK\x03\x04", "a zip archive"),
            (b"plain words", "neither tar nor LaTeX"),
            (b"\x1F\x8B\x08\x00", "cannot be inflated"),
        ] {
            let error = read(bytes).unwrap_err();
            assert!(error.message.contains(words), "{error}");
        }
    }
}
