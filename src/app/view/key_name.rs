//! The names of keys, as the table in `cli::keys` uses them.

use std::borrow::Cow;

use winit::keyboard::{Key, NamedKey};

/// Returns the name of a key. Keys that the table cannot contain have no name.
pub fn key_name(key: &Key) -> Option<Cow<'static, str>> {
    let named = match key {
        Key::Character(text) => return Some(Cow::Owned(text.to_uppercase())),
        Key::Named(named) => named,
        _ => return None,
    };
    Some(Cow::Borrowed(match named {
        NamedKey::Space => "Space",
        NamedKey::Escape => "Esc",
        NamedKey::Tab => "Tab",
        NamedKey::F1 => "F1",
        NamedKey::F11 => "F11",
        NamedKey::F12 => "F12",
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::keys::SHORTCUTS;

    #[test]
    fn every_key_of_the_table_can_be_pressed() {
        let named = [
            (NamedKey::Space, "Space"),
            (NamedKey::Escape, "Esc"),
            (NamedKey::Tab, "Tab"),
            (NamedKey::F1, "F1"),
            (NamedKey::F11, "F11"),
            (NamedKey::F12, "F12"),
        ];
        for (key, name) in named {
            assert_eq!(key_name(&Key::Named(key)).as_deref(), Some(name));
        }
        for key in SHORTCUTS.iter().flat_map(|shortcut| shortcut.keys) {
            let key = key.trim_start_matches("Shift ");
            let types_it = key_name(&Key::Character(key.to_lowercase().into())).as_deref() == Some(key);
            assert!(named.iter().any(|&(_, name)| name == key) || (key.chars().count() == 1 && types_it), "{key}");
        }
    }
}
