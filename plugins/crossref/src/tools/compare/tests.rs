use carrel_pdk::record::{Agent, Ids, Text, Work};

use super::*;

fn work() -> Work<'static> {
    Work {
        ids: Ids { doi: Some("10.5555/DESK.7".into()), ..Ids::default() },
        title: Some("On the habits of CO₂ in quiet reading rooms".into()),
        authors: vec![
            Agent { family: Some("Núñez".into()), ..Agent::default() },
            Agent { family: Some("Reader".into()), ..Agent::default() },
        ],
        container_title: Some("Journal of Desks".into()),
        issued: Some("2019-04".into()),
        volume: Some("12".into()),
        pages: Some("345-359".into()),
        ..Work::default()
    }
}

fn compare(reference: &str, work: &Work<'_>) -> (f64, Vec<Agreement>) {
    Reference::new(reference).compare(work)
}

#[test]
fn a_whole_reference_agrees_wholly_in_any_style() {
    for reference in [
        "Nunez A, Reader B (2019) On the habits of CO2 in quiet reading rooms. Journal of Desks 12:345–359",
        "A. Núñez and B. Reader, \"On the Habits of CO₂ in Quiet Reading Rooms,\" Journal of Desks, vol. 12, pp. 345-359, 2019.",
        "NÚÑEZ, A., & READER, B. (2019a). On the habits of CO<sub>2</sub> in quiet reading rooms. Journal of Desks, 12, 345.",
    ] {
        let (score, agreed) = compare(reference, &work());
        // Markup splits a word in one of them.
        assert!(score > 0.85, "{reference}: {score}");
        for what in [Agreement::Title, Agreement::Author, Agreement::Year, Agreement::Volume] {
            assert!(agreed.contains(&what), "{reference}: {agreed:?}");
        }
    }
}

#[test]
fn a_reference_without_title_is_recognized_by_volume_and_page() {
    let (score, agreed) = compare("A. Núñez et al., J. Desks 12, 345 (2019).", &work());
    assert!(score > 0.99, "{score}");
    assert_eq!(agreed, [Agreement::Author, Agreement::Year, Agreement::Volume, Agreement::Page]);
}

#[test]
fn other_works_by_the_author_or_on_the_subject_are_no_evidence() {
    for reference in [
        "Núñez A (2019) A history of chairs. Journal of Desks 12:1–20",
        "Smith J (2001) Reading rooms and their carbon dioxide. Libraries Today 3:4-5",
        "Someone, J. Desks 12, 345.",
        "Smith J (2019) Lamps. Journal of Desks 12:345-359",
        "On the habits of birds",
        "2019",
        "...",
    ] {
        let (score, agreed) = compare(reference, &work());
        assert!(score < 0.5, "{reference}: {score} {agreed:?}");
    }
}

#[test]
fn a_generic_title_needs_further_evidence() {
    let editorial = Work { title: Some("Editorial".into()), ..work() };
    let (score, _) = compare("Smith (2001) Editorial. Libraries Today 3:4-5", &editorial);
    assert!(score < 0.5, "{score}");
    let (score, _) = compare("Núñez A. Editorial. J. Desks 12, 345 (2019)", &editorial);
    assert!(score > 0.9, "{score}");
}

#[test]
fn a_year_between_online_and_print_counts_half() {
    let title = "Núñez A. On the habits of CO2 in quiet reading rooms.";
    let exact = compare(&format!("{title} 2019"), &work()).0;
    let near = compare(&format!("{title} 2020"), &work()).0;
    let far = compare(&format!("{title} 2009"), &work()).0;
    assert!(exact > near && near > far && far > 0.5, "{exact} {near} {far}");
    assert!(!compare(&format!("{title} 2020"), &work()).1.contains(&Agreement::Year));
}

#[test]
fn a_doi_in_the_reference_is_found_and_counts() {
    for (text, doi) in [
        ("Desks. doi:10.5555/desk.7.", "10.5555/desk.7"),
        ("(see https://doi.org/10.5555/desk.7)", "10.5555/desk.7"),
        ("https://doi.org/10.5555/a%3Cb%3E, 2019", "10.5555/a<b>"),
        ("10.5555/(SICI)1(2)3:4<5::A>3.0.CO;2-1", "10.5555/(SICI)1(2)3:4<5::A>3.0.CO;2-1"),
        ("v110.5555/x 10.5555/y", "10.5555/y"),
    ] {
        assert_eq!(Reference::new(text).doi().map(Doi::as_str), Some(doi), "{text}");
    }
    assert!(Reference::new("pages 10.12 and 10.1/2").doi().is_none());
    let (score, agreed) = compare("Desks. doi:10.5555/desk.7", &work());
    assert!((score - 0.5).abs() < 1e-9 && agreed.contains(&Agreement::Doi), "{score}");
}

#[test]
fn works_that_lack_everything_agree_with_nothing() {
    let bare = Work { title: None, issued: Some(Text::from("19")), ..Work::default() };
    assert_eq!(compare("Anything 2019, 12, 345", &bare), (0.0, Vec::new()));
}
