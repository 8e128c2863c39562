//! The keys of the window, in one table.
//!
//! In: the name of a pressed key. Out: the action of `view`. `throng view --help`, the help page of the window and
//! docs/using.md list this table, and a test compares them. The mouse is listed in the same way, but has no actions
//! here, because its gestures depend on movements.

/// The effect of a key. The table says what each one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Close,
    Quit,
    Pause,
    StepBack,
    StepForward,
    PreviousClip,
    NextClip,
    AllClips,
    /// Plays the clip with the number of the key.
    Clip,
    NextView,
    Skeleton,
    Focus,
    FrameCrowd,
    ResetCamera,
    UndoMove,
    FullScreen,
    Picture,
    CopyCommand,
    Mesh,
    Panel,
    Help,
}

/// All keys of the window: those that do the same, the action, and its description in the lists. The names of keys are those
/// that `view` gives them. A letter key has its capital.
pub const SHORTCUTS: &[(&[&str], Action, &str)] = &[
    (&["Space"], Action::Pause, "pause or continue"),
    (&[","], Action::StepBack, "pause and go back by a frame (1/30 s)"),
    (&["."], Action::StepForward, "pause and go on by a frame (1/30 s)"),
    (&["["], Action::PreviousClip, "play the clip before this one"),
    (&["]"], Action::NextClip, "play the next clip"),
    (&["1", "2", "3", "4", "5", "6", "7", "8", "9"], Action::Clip, "play the clip with this number"),
    (&["0"], Action::AllClips, "play a mix of all clips"),
    (&["V"], Action::NextView, "show the next debug view"),
    (&["K"], Action::Skeleton, "show or hide the skeleton"),
    (&["F"], Action::Focus, "focus on the selected character, or frame the crowd"),
    (&["Shift F"], Action::FrameCrowd, "frame the crowd from the front"),
    (&["R"], Action::ResetCamera, "reset the camera"),
    (&["Backspace"], Action::UndoMove, "undo the last move of the camera"),
    (&["Tab"], Action::Panel, "show or hide the panel"),
    (&["H", "F1"], Action::Help, "show or hide this list"),
    (&["P", "F12"], Action::Picture, "write a picture as `render` does: throng-1.png and so on"),
    (&["O"], Action::Mesh, "write the posed meshes as `pose --out` does: throng-1.glb and so on"),
    (&["Shift P"], Action::CopyCommand, "copy and print the command that renders this picture"),
    (&["F11"], Action::FullScreen, "enter or leave full screen"),
    (&["Esc"], Action::Close, "leave full screen, deselect, close this list, or else the window"),
    (&["Ctrl Q"], Action::Quit, "close the window"),
];

/// The gestures of the mouse, each with its description.
pub const GESTURES: &[(&str, &str)] = &[
    ("click", "select a character: its outline and facts, and its joints with their names"),
    ("drag left", "turn the camera, around the point that the wheel came closer to"),
    ("drag right", "look around"),
    ("drag middle", "move the camera sideways; also Shift and drag left, or two fingers"),
    ("wheel", "come closer to the point under the cursor, or go away; also pinch"),
    ("W A S D Q E", "fly forward, left, back, right, down, up; faster with Shift"),
    ("drop a file", "open a .glb, .gltf or .vrm file; add the clips of one without a mesh, or with Shift"),
];

/// Returns the action of a key, and the index of the key among those that do the same thing.
pub fn action(key: &str) -> Option<(Action, usize)> {
    SHORTCUTS.iter().find_map(|(keys, action, _)| Some((*action, keys.iter().position(|name| *name == key)?)))
}

/// Returns each key or gesture with its description, the mouse first.
pub fn rows() -> impl Iterator<Item = (String, &'static str)> {
    let keys = SHORTCUTS.iter().map(|&(keys, _, text)| match keys {
        [first, .., last] if keys.len() > 2 => (format!("{first} to {last}"), text),
        keys => (keys.join(" or "), text),
    });
    GESTURES.iter().map(|&(gesture, text)| (gesture.to_owned(), text)).chain(keys)
}

/// Returns the list for `--help`.
pub(super) fn help() -> String {
    let rows: Vec<String> = rows().map(|(keys, text)| format!("  {keys:<12} {text}")).collect();
    format!("Mouse and keys:\n{}", rows.join("\n"))
}
