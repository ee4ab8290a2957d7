//! Arguments → requests.

use carrel_pdk::Request;
use carrel_pdk::id::Isbn;

/// The request for the books with these ISBNs, all in one.
pub(crate) fn books(isbns: &[Isbn]) -> Request {
    let keys: Vec<String> = isbns.iter().map(|isbn| format!("ISBN:{}", isbn.as_str())).collect();
    let keys = keys.join(",");
    Request::get(format!("https://openlibrary.org/api/books?bibkeys={keys}&format=json&jscmd=data"))
}
