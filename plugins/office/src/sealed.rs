//! Documents that cannot be read: encrypted ones, and the binary files of old Office programs.

use carrel_pdk::Error;
use carrel_pdk::document::{Document, Quality, Reason};

/// The signature of the container of old Office programs (OLE).
const COMPOUND: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";

/// A document of which nothing can be read without its password.
pub(crate) fn encrypted(what: &str) -> Document {
    let mut document = Document {
        quality: Quality::None,
        quality_reason: Some(Reason::Encrypted),
        ..Document::default()
    };
    document.warn("encrypted", format!("{what} is encrypted: save it without a password"), None);
    document
}

/// The outcome for a compound file: encrypted, or of an old format; `None` when it is none.
pub(crate) fn compound(bytes: &[u8]) -> Option<Result<Document, Error>> {
    if !bytes.starts_with(COMPOUND) {
        return None;
    }
    let names = |name: &str| {
        let wide: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        // Entries of the directory begin at multiples of 128 bytes.
        bytes.chunks(128).any(|entry| entry.starts_with(&wide))
    };
    if names("EncryptedPackage") || names("EncryptionInfo") {
        return Some(Ok(encrypted("the Office document")));
    }
    let what = if names("WordDocument") {
        "a Word 97-2003 document (.doc): save it as .docx"
    } else if names("PowerPoint Document") {
        "a PowerPoint 97-2003 presentation (.ppt): save it as .pptx"
    } else if names("Workbook") || names("Book") {
        "an Excel 97-2003 workbook (.xls), which is not read"
    } else {
        "a compound file of another program"
    };
    let message = format!("expected a zip archive but found {what}");
    Some(Err(Error::invalid_document(message, 0, String::new())))
}
