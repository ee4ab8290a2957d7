//! PDF files made for the tests: objects by number, a cross-reference table, pages of text.

#![allow(
    unreachable_pub,
    dead_code,
    reason = "each test takes this file in as a module of its own"
)]

/// A builder of files.
#[derive(Debug, Default)]
pub struct File {
    pub objects: Vec<Vec<u8>>,
    pub pages: Vec<usize>,
    /// Entries of the catalogue and of the trailer.
    pub catalogue: String,
    pub trailer: String,
    /// Entries of each page.
    pub page: String,
}

/// Objects in front of those that are added: the catalogue, the pages, three fonts.
const FIXED: usize = 5;

impl File {
    /// A file with pages of these contents. Fonts: F1 is Helvetica, F2 its bold, F3 Courier.
    pub fn of_pages(contents: &[&str]) -> Self {
        let mut file = Self::default();
        for content in contents {
            file.add_page(content.as_bytes());
        }
        file
    }

    /// Adds an object and returns its number.
    pub fn add(&mut self, object: impl Into<Vec<u8>>) -> usize {
        self.objects.push(object.into());
        self.objects.len() + FIXED
    }

    /// Adds a stream with entries of its dictionary.
    pub fn add_stream(&mut self, entries: &str, data: &[u8]) -> usize {
        let mut object = format!("<< /Length {} {entries} >>\nstream\n", data.len()).into_bytes();
        object.extend_from_slice(data);
        object.extend_from_slice(b"\nendstream");
        self.add(object)
    }

    /// Adds a page.
    pub fn add_page(&mut self, content: &[u8]) {
        let content = self.add_stream("", content);
        let fonts = "/F1 3 0 R /F2 4 0 R /F3 5 0 R";
        let extra = self.page.clone();
        let page = self.add(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R \
             /Resources << /Font << {fonts} >> >> {extra} >>"
        ));
        self.pages.push(page);
    }

    /// The file's bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let kids: Vec<String> = self.pages.iter().map(|page| format!("{page} 0 R")).collect();
        let font = |name: &str| {
            format!(
                "<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>"
            )
        };
        let fixed = [
            format!("<< /Type /Catalog /Pages 2 0 R {} >>", self.catalogue),
            format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), kids.len()),
            font("Helvetica"),
            font("Helvetica-Bold"),
            font("Courier"),
        ];
        let mut out = b"%PDF-1.7\n%\xE2\xE3\xCF\xD3\n".to_vec();
        let mut offsets = Vec::new();
        let objects =
            fixed.iter().map(String::as_bytes).chain(self.objects.iter().map(Vec::as_slice));
        for (number, object) in (1..).zip(objects) {
            offsets.push(out.len());
            out.extend_from_slice(format!("{number} 0 obj\n").as_bytes());
            out.extend_from_slice(object);
            out.extend_from_slice(b"\nendobj\n");
        }
        let start = out.len();
        out.extend_from_slice(
            format!("xref\n0 {}\n0000000000 65535 f \n", offsets.len() + 1).as_bytes(),
        );
        for offset in &offsets {
            out.extend_from_slice(format!("{offset:010} 00000 n \n").as_bytes());
        }
        let size = offsets.len() + 1;
        let trailer = format!(
            "trailer\n<< /Size {size} /Root 1 0 R {} >>\nstartxref\n{start}\n%%EOF\n",
            self.trailer
        );
        out.extend_from_slice(trailer.as_bytes());
        out
    }
}

/// Lines of text from a point down.
pub fn lines(font: &str, size: u32, x: u32, y: u32, lines: &[&str]) -> String {
    let leading = size * 6 / 5;
    let mut out = format!("BT /{font} {size} Tf {leading} TL {x} {y} Td\n");
    for line in lines {
        let escaped = line.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
        out.push_str(&format!("({escaped}) Tj T*\n"));
    }
    out.push_str("ET\n");
    out
}
