//! Group lines beside jobs that say more.
//!
//! A group line of fio's text tells neither job nor command. Where the jobs that it sums stand beside it and
//! do, as in a file that holds fio's JSON as well, one result would have two names: its bandwidth the group's,
//! all else the job's. So a group line of which no command is known is left out if, of its run, group and
//! direction,
//!
//! - there is one job (or one sum over jobs), with the same amount and bandwidth, or there are several, each
//!   with a command, no two of which ask the same; and
//! - no job lacks a figure that the line has.
//!
//! fio's text has no figures of a job that died at once, whose error the group line bears. Where no other job
//! failed, such a line stays for that job, without the figures, which are the others'.
//!
//! Place: after [`super::jobs`] summed what can be summed, before the frame is built.

use std::collections::HashMap;

use super::{Base, Builder, Context};
use crate::bounds::Bounds;
use crate::evidence;
use crate::keys::Key;
use fio_parse::record::ScopeKind;

/// How far one result may be off between two outputs of fio, which round it and its time differently.
const ROUNDED: f64 = 0.01;

/// Source, run, group, direction and host.
type Place<'t> = (u32, u32, u32, u32, &'t str);

impl Builder {
    /// Leaves out group lines whose jobs say more.
    pub fn leave_out_groups(&mut self) {
        let contexts = self.contexts.values();
        let is_line =
            |c: &Context| c.rank == evidence::rank(ScopeKind::Group) && self.asked(c).is_none();
        let is_job = |c: &Context| c.rank == evidence::rank(ScopeKind::Job);
        let lines: Vec<bool> = contexts.iter().map(is_line).collect();
        if !lines.contains(&true) || !contexts.iter().any(is_job) {
            return;
        }
        let direction = self.wanted.keys.iter().position(|k| *k == Key::DIRECTION);
        let place = |context: u32, run: u32| -> Place<'_> {
            let c = &contexts[context as usize];
            let job = self.texts.get(c.job).map_or("", String::as_str);
            let host = job.split_once('\0').map_or("", |(_, host)| host);
            (
                c.source,
                run,
                c.group,
                direction.map_or(0, |at| c.keys[at]),
                host,
            )
        };
        let rows = || self.context.iter().zip(&self.run).enumerate();
        let mut places: HashMap<Place<'_>, (Vec<usize>, Vec<usize>)> = HashMap::new();
        for (row, (context, run)) in rows().filter(|(_, (c, _))| lines[**c as usize]) {
            places.entry(place(*context, *run)).or_default().0.push(row);
        }
        for (row, (context, run)) in rows().filter(|(_, (c, _))| is_job(&contexts[**c as usize])) {
            if let Some((_, jobs)) = places.get_mut(&place(*context, *run)) {
                jobs.push(row);
            }
        }
        let failed = |row: usize| contexts[self.context[row] as usize].failed;
        let mut gone = vec![false; self.len()];
        let mut of_the_dead = Vec::new();
        for (lines, jobs) in places.into_values() {
            for line in lines
                .into_iter()
                .filter(|line| self.stand_for(&jobs, *line))
            {
                if failed(line) && !jobs.iter().any(|job| failed(*job)) {
                    of_the_dead.push(line);
                } else {
                    gone[line] = true;
                }
            }
        }
        for line in of_the_dead {
            let of_line = self.contexts.get(self.context[line]).cloned();
            if let Some(mut context) = of_line {
                context.rank = evidence::rank(ScopeKind::Job);
                self.context[line] = self.context_code(&context);
            }
            self.bases
                .iter_mut()
                .for_each(|column| column.set(line, None));
        }
        self.leave_out(&gone);
    }

    /// What was asked of the disk, if that is known.
    fn asked(&self, context: &Context) -> Option<u32> {
        let asked = self.facts.get(context.facts)?.asked;
        let known = self.texts.get(asked).is_some_and(|text| !text.is_empty());
        known.then_some(asked)
    }

    /// Whether these rows of jobs say all that the row of their group says.
    fn stand_for(&self, jobs: &[usize], line: usize) -> bool {
        let context = |row: &usize| self.contexts.get(self.context[*row]);
        let asked: Vec<Option<u32>> = jobs.iter().map(|row| self.asked(context(row)?)).collect();
        let different = || {
            (asked.iter().enumerate()).all(|(i, one)| one.is_some() && !asked[..i].contains(one))
        };
        if jobs.is_empty() || jobs.len() > 1 && !different() {
            return false;
        }
        (self.wanted.all_bases().zip(&self.bases)).all(|(base, column)| {
            let Some(whole) = column.get(line) else {
                return true;
            };
            let compared = jobs.len() == 1 && [Base::Bytes, Base::BytesPerSec].contains(&base);
            jobs.iter().all(|row| {
                let own = column.get(*row);
                own.is_some_and(|own| !compared || agree(own, whole))
            })
        })
    }
}

/// Whether two figures are of one result, each as one output rounds it.
fn agree(a: Bounds, b: Bounds) -> bool {
    a.lo() <= b.hi() * (1.0 + ROUNDED) && b.lo() <= a.hi() * (1.0 + ROUNDED)
}
