//! Whether an agent is there, as far as is known. One attempt that fails is not the end of it, nor is one that succeeds
//! the end of its trouble.

/// So many attempts in a row have to fail before an agent that was there is not.
const DOWN_AFTER: u32 = 3;

/// So many have to succeed before one that was not there is.
const UP_AFTER: u32 = 2;

/// What the attempts to reach an agent have come to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Health {
    /// Unknown before the first attempt, which decides alone.
    is_up: Option<bool>,
    /// Attempts in a row that speak against it.
    against: u32,
}

impl Health {
    /// Takes what came of an attempt; gives how it stands now.
    pub(crate) fn observe(&mut self, succeeded: bool) -> bool {
        let is_up = *self.is_up.get_or_insert(succeeded);
        if succeeded == is_up {
            self.against = 0;
            return is_up;
        }
        self.against += 1;
        let enough = if is_up { DOWN_AFTER } else { UP_AFTER };
        if self.against >= enough {
            (self.is_up, self.against) = (Some(succeeded), 0);
            return succeeded;
        }
        is_up
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_several_attempts_to_change() {
        let mut health = Health::default();
        let attempts = [true, false, false, true, false, false, false, true, false, true, true];
        let states = [true, true, true, true, true, true, false, false, false, false, true];
        for (number, (attempt, state)) in attempts.into_iter().zip(states).enumerate() {
            assert_eq!(health.observe(attempt), state, "attempt {number}");
        }
        assert!(!Health::default().observe(false), "the first decides alone");
    }
}
