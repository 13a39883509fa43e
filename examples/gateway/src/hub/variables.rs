//! Variables of an agent's environment with secret values.
use host::transport::Address;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// Minimum number of bytes of a value that is hidden in texts; shorter ones are words.
const MIN_HIDDEN: usize = 6;

/// Member of a line that reports an error.
const ERROR_MEMBER: &str = "\"error\"";

/// Variables of an agent's environment with secret values, which are kept in memory only and not
/// printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Variables(BTreeMap<String, String>);

impl FromIterator<(String, String)> for Variables {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(variables: T) -> Self {
        Self(variables.into_iter().collect())
    }
}

impl Variables {
    /// Adds variables, which replace those of the same names.
    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Returns a text without the values.
    pub fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let values = self.0.values().filter(|value| value.len() >= MIN_HIDDEN);
        values.fold(text.into(), |text, value| match text.contains(value.as_str()) {
            true => text.replace(value.as_str(), "(hidden)").into(),
            false => text,
        })
    }

    /// Returns a line without the values, if it may be an error. Its reason reaches users.
    pub(crate) fn hide_in_error<'a>(&self, line: &'a str) -> Cow<'a, str> {
        match !self.0.is_empty() && line.contains(ERROR_MEMBER) {
            true => self.hide(line),
            false => line.into(),
        }
    }

    /// Sets the variables for an agent that is a process.
    pub(crate) fn set(&self, address: &mut Address) {
        if let Address::Command { variables, .. } = address {
            variables.extend(self.0.clone());
        }
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_neither_printed_nor_quoted() {
        let variables = [("A_KEY", "open-sesame"), ("SHORT", "no")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let variables: Variables = variables.into_iter().collect();
        assert_eq!(format!("{variables:?}"), r#"{"A_KEY", "SHORT"}"#);
        assert_eq!(variables.hide("no key open-sesame: open-sesame"), "no key (hidden): (hidden)");
    }
}
