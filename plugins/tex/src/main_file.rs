//! Finds the main file of an e-print.

use crate::archive::File;

/// The main file: the one that `00README` names, else the best of those with a `\documentclass`.
pub(crate) fn find(files: &[File]) -> Option<&File> {
    if let Some(named) = readme(files) {
        return Some(named);
    }
    let sources = files.iter().filter(|file| is_source(file));
    sources.max_by_key(|file| (score(file), file.bytes.len()))
}

fn is_source(file: &File) -> bool {
    let lower = file.path.to_ascii_lowercase();
    let named = [".tex", ".ltx", ".latex"].iter().any(|ending| lower.ends_with(ending));
    // The single file of an e-print may have any name.
    let bare = !lower.rsplit('/').next().unwrap_or_default().contains('.');
    (named || bare) && !file.bytes.contains(&0)
}

fn holds(file: &File, needle: &str) -> bool {
    let text = String::from_utf8_lossy(&file.bytes);
    text.lines().any(|line| {
        let line = line.trim_start();
        !line.starts_with('%') && line.contains(needle)
    })
}

fn score(file: &File) -> u32 {
    let name = file.path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let mut score = 0_u32;
    if holds(file, "\\documentclass") || holds(file, "\\documentstyle") {
        score += 100;
        if holds(file, "\\documentclass{standalone}")
            || holds(file, "]{standalone}")
            || holds(file, "{subfiles}")
        {
            score -= 60;
        }
    }
    if holds(file, "\\begin{document}") {
        score += 40;
    }
    if holds(file, "\\title") || holds(file, "\\maketitle") {
        score += 10;
    }
    if holds(file, "\\bibliography")
        || holds(file, "thebibliography")
        || holds(file, "\\printbibliography")
    {
        score += 5;
    }
    if !file.path.contains('/') {
        score += 3;
    }
    if ["main.tex", "ms.tex", "paper.tex", "article.tex"].contains(&name.as_str()) {
        score += 4;
    }
    if ["supp", "appendix", "response", "cover", "template", "sample"]
        .iter()
        .any(|word| name.contains(word))
    {
        score = score.saturating_sub(20);
    }
    score
}

/// The file that arXiv's `00README` names as top-level.
fn readme(files: &[File]) -> Option<&File> {
    let notes = files.iter().find(|file| {
        let name = file.path.to_ascii_lowercase();
        name.starts_with("00readme")
    })?;
    let text = String::from_utf8_lossy(&notes.bytes).into_owned();
    let named = |name: &str| {
        files.iter().find(|file| file.path == name.trim().trim_matches(['"', '\'', ',']))
    };
    let lines: Vec<&str> = text.lines().collect();
    for (number, line) in lines.iter().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [name, "toplevelfile"] = words.as_slice() {
            return named(name);
        }
        // The newer form is YAML or JSON: a list of sources with their usage.
        if line.contains("toplevel") && line.contains("usage") {
            let near = lines.iter().skip(number.saturating_sub(3)).take(7);
            let found = near.filter(|line| line.contains("filename")).find_map(|line| {
                let (_, name) = line.split_once(':')?;
                named(name)
            });
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), bytes: text.as_bytes().to_vec() }
    }

    #[test]
    fn the_paper_is_found_among_its_parts() {
        let whole = "\\documentclass{article}\n\\begin{document}\\title{x}\\end{document}";
        let files = [
            file("intro.tex", &"words ".repeat(1000)),
            file("paper.tex", whole),
            file("supp.tex", whole),
        ];
        assert_eq!(find(&files).unwrap().path, "paper.tex");
        let notes = file("00README.XXX", "supp.tex toplevelfile\n");
        let files = [&files[..], &[notes]].concat();
        assert_eq!(find(&files).unwrap().path, "supp.tex");
        let notes = file(
            "00README.json",
            "{\"sources\": [\n{\"usage\": \"toplevel\",\n\"filename\": \"paper.tex\"}]}",
        );
        let files = [file("paper.tex", whole), file("x.tex", whole), notes];
        assert_eq!(find(&files).unwrap().path, "paper.tex");
    }
}
