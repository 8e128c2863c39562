//! The keys of the window, in one table.
//!
//! In: the name of a pressed key. Out: the action of `view`. `throng view --help`, the help page of the window and
//! docs/using.md list this table, and a test compares them. The mouse is listed in the same way, but has no actions
//! here, because its gestures depend on movements.

/// The effect of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Closes the window.
    Close,
    /// Pauses, or continues.
    Pause,
    /// Shows the frame before this one.
    StepBack,
    /// Shows the next frame.
    StepForward,
    /// Plays the clip before this one.
    PreviousClip,
    /// Plays the next clip.
    NextClip,
    /// Plays a mix of all clips.
    AllClips,
    /// Plays the clip with a number.
    Clip,
    /// Shows the next debug view.
    NextView,
    /// Shows or hides the skeleton.
    Skeleton,
    /// Focuses on the selected character, or frames the crowd.
    Focus,
    /// Frames the crowd from the front.
    FrameCrowd,
    /// Returns the camera to its first place.
    ResetCamera,
    /// Enters or leaves full screen.
    FullScreen,
    /// Writes a screenshot.
    Screenshot,
    /// Shows or hides the panel.
    Panel,
    /// Shows or hides the list of keys.
    Help,
}

/// Keys that do the same thing.
#[derive(Debug, Clone, Copy)]
pub struct Shortcut {
    /// The names of the keys. A key that types a character has that character as its name, in upper case,
    /// after `Shift ` if it needs that key.
    pub keys: &'static [&'static str],
    /// The keys as the lists show them.
    pub shown: &'static str,
    /// The action.
    pub action: Action,
    /// The description in the lists.
    pub text: &'static str,
}

const fn shortcut(keys: &'static [&'static str], shown: &'static str, action: Action, text: &'static str) -> Shortcut {
    Shortcut { keys, shown, action, text }
}

/// All keys of the window.
pub const SHORTCUTS: &[Shortcut] = &[
    shortcut(&["Space"], "Space", Action::Pause, "pause or continue"),
    shortcut(&[","], ",", Action::StepBack, "pause and go back by a frame (1/30 s)"),
    shortcut(&["."], ".", Action::StepForward, "pause and go on by a frame (1/30 s)"),
    shortcut(&["["], "[", Action::PreviousClip, "play the clip before this one"),
    shortcut(&["]"], "]", Action::NextClip, "play the next clip"),
    shortcut(&["1", "2", "3", "4", "5", "6", "7", "8", "9"], "1 to 9", Action::Clip, "play the clip with this number"),
    shortcut(&["0"], "0", Action::AllClips, "play a mix of all clips"),
    shortcut(&["V"], "V", Action::NextView, "show the next debug view"),
    shortcut(&["K"], "K", Action::Skeleton, "show or hide the skeleton"),
    shortcut(&["F"], "F", Action::Focus, "focus on the selected character, or frame the crowd"),
    shortcut(&["Shift F"], "Shift F", Action::FrameCrowd, "frame the crowd from the front"),
    shortcut(&["R"], "R", Action::ResetCamera, "reset the camera"),
    shortcut(&["Tab"], "Tab", Action::Panel, "show or hide the panel"),
    shortcut(&["H", "F1"], "H or F1", Action::Help, "show or hide this list"),
    shortcut(&["P", "F12"], "P or F12", Action::Screenshot, "write a screenshot, throng-1.png and so on"),
    shortcut(&["F11"], "F11", Action::FullScreen, "enter or leave full screen"),
    shortcut(&["Esc"], "Esc", Action::Close, "close this list, or the window"),
];

/// The gestures of the mouse, each with its description.
pub const GESTURES: &[(&str, &str)] = &[
    ("click", "select a character: its facts, and the names of its joints over the skeleton"),
    ("drag left", "turn the camera around the crowd"),
    ("drag right", "look around"),
    ("drag middle", "move the camera sideways; also Shift and drag left, or two fingers"),
    ("wheel", "come closer to the point under the cursor, or go away; also pinch"),
    ("W A S D Q E", "fly forward, left, back, right, down, up; faster with Shift"),
    ("drop a file", "open a .glb or .gltf file"),
];

/// Returns the action of a key, and the index of the key among those that do the same thing.
#[must_use]
pub fn action(key: &str) -> Option<(Action, usize)> {
    SHORTCUTS.iter().find_map(|shortcut| {
        let index = shortcut.keys.iter().position(|name| *name == key)?;
        Some((shortcut.action, index))
    })
}

/// Returns each key or gesture with its description, the mouse first.
pub fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    let keys = SHORTCUTS.iter().map(|shortcut| (shortcut.shown, shortcut.text));
    GESTURES.iter().copied().chain(keys)
}

/// Returns the list for `--help`.
#[must_use]
pub(super) fn help() -> String {
    let rows: Vec<String> = rows().map(|(keys, text)| format!("  {keys:<12} {text}")).collect();
    format!("Mouse and keys:\n{}", rows.join("\n"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_key_has_two_actions() {
        let mut seen = HashSet::new();
        for key in SHORTCUTS.iter().flat_map(|shortcut| shortcut.keys) {
            assert!(seen.insert(key), "{key}");
        }
        assert_eq!(action("3"), Some((Action::Clip, 2)));
        assert_eq!(action("F12"), Some((Action::Screenshot, 1)));
        assert_eq!(action("no such key"), None);
    }
}
