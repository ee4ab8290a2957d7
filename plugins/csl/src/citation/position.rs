//! The positions of cites: first, subsequent, ibid, near note.

use std::collections::HashMap;

use super::CiteItem;
use crate::style::elements::Position;

/// A citation's cites and its note.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cluster {
    pub(crate) cites: Vec<CiteItem>,
    pub(crate) note: u64,
}

/// Sets the position of every cite.
pub(crate) fn assign(clusters: &mut [Cluster], near: u64) {
    let mut first: HashMap<usize, u64> = HashMap::new();
    let mut last: HashMap<usize, u64> = HashMap::new();
    // Citations in the text and those in notes follow one another separately.
    let mut previous_of: [Option<Cluster>; 2] = [None, None];
    for cluster in clusters.iter_mut() {
        let note = cluster.note;
        let chain = usize::from(note > 0);
        let before = previous_of[chain].take();
        let mut previous: Option<CiteItem> = None;
        for (index, cite) in cluster.cites.iter_mut().enumerate() {
            let known = first.contains_key(&cite.item);
            let predecessor = if index > 0 {
                previous.as_ref()
            } else {
                before.as_ref().filter(|before| before.cites.len() == 1).and_then(|before| {
                    let gap = before.note > 0 && note > 0 && note > before.note + 1;
                    before.cites.first().filter(|_| !gap)
                })
            };
            let position = match predecessor {
                _ if !known => Position::First,
                Some(old) if old.item == cite.item => {
                    match (&old.cite.locator, &cite.cite.locator) {
                        (None, None) => Position::Ibid,
                        (None, Some(_)) => Position::IbidWithLocator,
                        (Some(_), None) => Position::Subsequent,
                        (Some(old_locator), Some(locator)) => {
                            if old_locator == locator && old.cite.label == cite.cite.label {
                                Position::Ibid
                            } else {
                                Position::IbidWithLocator
                            }
                        }
                    }
                }
                _ => Position::Subsequent,
            };
            cite.cite.position = Some(position);
            if position != Position::First {
                cite.cite.first_note = first.get(&cite.item).copied().filter(|&note| note > 0);
                let distance = last.get(&cite.item).map(|&at| note.saturating_sub(at));
                cite.cite.near_note = distance.is_some_and(|distance| distance <= near);
            }
            first.entry(cite.item).or_insert(note);
            last.insert(cite.item, note);
            previous = Some(cite.clone());
        }
        previous_of[chain] = Some(cluster.clone());
    }
}
