//! Ids, numbers and groups of the items of an index.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use hashbrown::HashTable;

use crate::{Error, Result};

/// Numbers items from 0 in the order they come.
///
/// A removed item leaves its number unused until [`IdMap::renumber`] closes the gaps; the order stays, so a lower
/// number always means an older item.
#[derive(Debug, Default)]
pub struct IdMap {
    items: Vec<Option<Item>>,
    numbers: HashTable<u32>,
    groups: HashMap<Box<str>, u32>,
    /// Keyed at random, so that no one can choose ids that collide.
    hasher: RandomState,
}

#[derive(Debug)]
struct Item {
    id: Box<str>,
    group: u32,
}

/// Filter over the items of an index.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter<'a> {
    /// Only items added under this group.
    pub group: Option<&'a str>,
    /// Only items with one of these ids.
    pub within: Option<&'a [&'a str]>,
}

impl IdMap {
    /// Take in an item under a new number. The id must not be present.
    pub fn insert(&mut self, id: &str, group: &str, limit: usize) -> Result<u32> {
        if self.items.len() >= limit {
            return Err(Error::Full { what: "the index", limit });
        }
        let number = self.items.len() as u32;
        let group = self.group_number(group);
        self.items.push(Some(Item { id: id.into(), group }));
        let (items, hasher) = (&self.items, &self.hasher);
        self.numbers.insert_unique(hasher.hash_one(id), number, |&number| hasher.hash_one(id_in(items, number)));
        Ok(number)
    }

    /// Take an item out and give the number it had.
    pub fn remove(&mut self, id: &str) -> Option<u32> {
        let items = &self.items;
        let entry = self.numbers.find_entry(self.hasher.hash_one(id), |&number| id_in(items, number) == id).ok()?;
        let (number, _) = entry.remove();
        self.items[number as usize] = None;
        Some(number)
    }

    /// Return the number of an id.
    #[must_use]
    pub fn number(&self, id: &str) -> Option<u32> {
        self.numbers.find(self.hasher.hash_one(id), |&number| id_in(&self.items, number) == id).copied()
    }

    /// Return the id of a number; empty for a number that is unused.
    #[must_use]
    pub fn id(&self, number: u32) -> &str {
        id_in(&self.items, number)
    }

    /// Return whether an item has the number.
    #[must_use]
    pub fn is_used(&self, number: u32) -> bool {
        self.items.get(number as usize).is_some_and(Option::is_some)
    }

    /// Items present.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Return whether no item is present.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Return the count of numbers given out so far, used or not.
    #[must_use]
    pub fn span(&self) -> usize {
        self.items.len()
    }

    /// Return whether so many numbers are unused that closing the gaps is cheaper than stepping over them.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        const FEW: usize = 1024;
        let unused = self.span() - self.len();
        unused > FEW && unused > self.len()
    }

    /// Close the gaps. The result holds the new number of each old one, or none for those that were unused.
    pub fn renumber(&mut self) -> Vec<Option<u32>> {
        let mut next = 0;
        let renumbered = self
            .items
            .iter()
            .map(|item| {
                item.as_ref().map(|_| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        self.items.retain(Option::is_some);
        self.numbers.clear();
        let (items, hasher) = (&self.items, &self.hasher);
        let rehash = |&number: &u32| hasher.hash_one(id_in(items, number));
        for number in 0..items.len() as u32 {
            self.numbers.insert_unique(rehash(&number), number, rehash);
        }
        renumbered
    }

    /// Return a test of numbers for what the filter lets through.
    ///
    /// A group or an id that is not present matches nothing.
    pub fn admit(&self, filter: Filter<'_>) -> impl Fn(u32) -> bool + '_ {
        let group = filter.group.map(|name| self.groups.get(name).copied());
        let within = filter.within.map(|ids| {
            let mut admitted = vec![false; self.span()];
            for number in ids.iter().filter_map(|id| self.number(id)) {
                admitted[number as usize] = true;
            }
            admitted
        });
        // Where all are let through, there is no need to look at any.
        let is_open = group.is_none() && within.is_none() && self.len() == self.span();
        move |number| {
            if is_open {
                return true;
            }
            let Some(item) = &self.items[number as usize] else { return false };
            group.is_none_or(|wanted| wanted == Some(item.group))
                && within.as_ref().is_none_or(|admitted| admitted[number as usize])
        }
    }

    fn group_number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.groups.get(name) {
            return number;
        }
        let number = self.groups.len() as u32;
        self.groups.insert(name.into(), number);
        number
    }
}

fn id_in(items: &[Option<Item>], number: u32) -> &str {
    items[number as usize].as_ref().map_or("", |item| &item.id)
}
