//! The order of components: a dependent comes after all it depends on, ties are broken by name, cycles are named whole.

use std::collections::{BTreeMap, BTreeSet};

/// Name -> the names that come before it.
pub type Before<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// The wave of each name: one more than that of the last it depends on. Or a cycle, from its least name round to itself.
pub fn waves<'a>(before: &Before<'a>) -> Result<BTreeMap<&'a str, usize>, Vec<&'a str>> {
    let mut waves = BTreeMap::new();
    for &start in before.keys() {
        // Depth first, with the path of names that wait for one another: no recursion, so depth is no danger.
        let mut path: Vec<(&str, Vec<&str>)> = Vec::new();
        let mut waiting: BTreeSet<&str> = BTreeSet::new();
        let mut open = Some(start);
        loop {
            if let Some(name) = open.take()
                && !waves.contains_key(name)
            {
                if !waiting.insert(name) {
                    let cycle = path
                        .iter()
                        .map(|(waiting, _)| *waiting)
                        .skip_while(|other| *other != name);
                    return Err(whole(cycle.collect()));
                }
                let needed = before.get(name).into_iter().flatten().rev().copied().collect();
                path.push((name, needed));
            }
            let Some((name, needed)) = path.last_mut() else {
                break;
            };
            match needed.pop() {
                Some(next) => open = Some(next),
                None => {
                    let depth = before.get(name).into_iter().flatten();
                    let wave = depth
                        .map(|needed| waves.get(needed).map_or(0, |wave| wave + 1))
                        .max();
                    waves.insert(*name, wave.unwrap_or(0));
                    waiting.remove(*name);
                    path.pop();
                }
            }
        }
    }
    Ok(waves)
}

/// A cycle, turned so that its least name comes first, and closed.
fn whole(mut cycle: Vec<&str>) -> Vec<&str> {
    let least = (0..cycle.len()).min_by_key(|index| cycle[*index]).unwrap_or(0);
    cycle.rotate_left(least);
    cycle.push(cycle[0]);
    cycle
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph<'a>(edges: &[(&'a str, &[&'a str])]) -> Before<'a> {
        edges
            .iter()
            .map(|(name, before)| (*name, before.iter().copied().collect()))
            .collect()
    }

    #[test]
    fn dependents_come_later() {
        let graph = graph(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[]), ("d", &[])]);
        let expected = [("a", 2), ("b", 1), ("c", 0), ("d", 0)];
        assert_eq!(waves(&graph).unwrap(), expected.into_iter().collect());
    }

    #[test]
    fn a_cycle_is_named_whole() {
        let cyclic = graph(&[("a", &[]), ("z", &["m"]), ("m", &["k", "a"]), ("k", &["z"])]);
        assert_eq!(waves(&cyclic), Err(vec!["k", "z", "m", "k"]));
        assert_eq!(waves(&graph(&[("a", &["a"])])), Err(vec!["a", "a"]));
    }

    #[test]
    fn a_long_chain_is_no_danger() {
        let names: Vec<String> = (0..100_000).map(|n| format!("n{n:06}")).collect();
        let chain: Before<'_> = names
            .iter()
            .enumerate()
            .map(|(n, name)| {
                (
                    name.as_str(),
                    names.get(n + 1).map(String::as_str).into_iter().collect(),
                )
            })
            .collect();
        assert_eq!(waves(&chain).unwrap()["n000000"], 99_999);
    }
}
