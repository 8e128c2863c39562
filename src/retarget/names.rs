//! What the name of a node says about its part of the body.
//!
//! In: a name of any convention, such as `mixamorig:LeftForeArm_08`, `DEF-upper_arm.L`, `thigh_l`, `J_Bip_R_Hand`,
//! `L_armUpper0001_bind_JNT`, `Bip01 L Calf`, `Left elbow`. Out: a side and a [`Word`]. A name is evidence only:
//! [`super::roles`] has the last word, by the tree.

use crate::model::humanoid::Side;

/// A part of the body as names call it. Some words mean different bones in different conventions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    Hips,
    Head,
    /// A clavicle; but the upper arm in skeletons that name their joints.
    Shoulder,
    Clavicle,
    UpperArm,
    /// The upper arm if there is a forearm; otherwise all bones of an arm.
    Arm,
    LowerArm,
    Wrist,
    Hand,
    UpperLeg,
    /// The lower leg if there is a thigh, the upper leg if there is a knee; otherwise all bones of a leg.
    Leg,
    LowerLeg,
    Foot,
    Toes,
    /// A bone of a finger, by the number of the finger, from the thumb.
    Finger(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Evidence {
    pub side: Option<Side>,
    pub word: Option<Word>,
    /// Whether it is the name of a control, a target or an end, which no limb consists of.
    pub is_helper: bool,
    /// Whether it says that the bone deforms the skin. Rigs with such names have controls of the same parts beside them.
    pub deforms: bool,
}

/// Parts of names that controls, targets and ends have.
const HELPERS: &str = "ik fk ctrl control pole target end nub tip twist roll helper mch org tweak heel slot handslot socket \
    hold goal effector pv master sec adj palm metacarpal tail wing ear hair skirt cloth prop weapon geo \
    mesh";

/// Whole words, after the side and all numbers are gone.
const WORDS: &[(&[&str], Word)] = &[
    (&["hips", "hip", "pelvis", "cog"], Word::Hips),
    (&["head"], Word::Head),
    (&["shoulder", "shldr"], Word::Shoulder),
    (&["clavicle", "collar", "collarbone", "scapula", "clav"], Word::Clavicle),
    (&["upperarm", "armupper", "uparm", "bicep", "humerus"], Word::UpperArm),
    (&["arm"], Word::Arm),
    (&["lowerarm", "armlower", "forearm", "elbow", "lowarm", "ulna"], Word::LowerArm),
    (&["wrist"], Word::Wrist),
    (&["hand", "fist"], Word::Hand),
    (&["upperleg", "legupper", "upleg", "thigh", "femur"], Word::UpperLeg),
    (&["leg"], Word::Leg),
    (&["lowerleg", "leglower", "lowleg", "calf", "shin", "knee", "tibia"], Word::LowerLeg),
    (&["foot", "ankle"], Word::Foot),
    (&["toe", "toes", "toebase", "ball"], Word::Toes),
];

/// The words of fingers, by number. They may follow the word of a hand.
const FINGER_WORDS: [&[&str]; 5] =
    [&["thumb"], &["index", "pointer", "forefinger"], &["middle", "mid"], &["ring"], &["pinky", "little", "pinkie"]];

/// Parts of names that say nothing.
const NOISE: &str = "m bind jnt joint bone def sk skeleton bip j c b f armature mixamorig valve biped cc base rig character \
    bn jt root joints proximal intermediate distal bend in";

fn is_among(words: &str, part: &str) -> bool {
    words.split_whitespace().any(|word| word == part)
}

pub fn evidence_of(name: &str) -> Evidence {
    let parts = words_of(without_name_space(name));
    let mut evidence = Evidence::default();
    let mut words: Vec<&str> = Vec::new();
    for part in &parts {
        let (side, rest) = split_side(part);
        evidence.side = evidence.side.or(side);
        evidence.deforms |= rest == "def";
        if is_among(HELPERS, rest) {
            evidence.is_helper = true;
        } else if !rest.is_empty() && !is_among(NOISE, rest) {
            words.push(rest);
        }
    }
    let finger = FINGER_WORDS.iter().position(|names| words.iter().any(|word| names.contains(word)));
    // "hand" and "toe" may stand before the name of a finger, "upper" before "arm".
    let joined = words.concat();
    evidence.word = match finger {
        Some(_) if words.contains(&"toe") || words.contains(&"foot") => None,
        Some(number) => Some(Word::Finger(number)),
        None => WORDS.iter().find(|(names, _)| names.contains(&&*joined)).map(|&(_, word)| word),
    };
    evidence
}

/// Returns whether a name is that of a bone that shares a twist, such as `upperarm_twist_01_l` or `LeftForeArmRoll`.
pub fn is_twist(name: &str) -> bool {
    words_of(without_name_space(name)).iter().any(|part| is_among("twist roll", split_side(part).1))
}

fn without_name_space(name: &str) -> &str {
    name.rsplit([':', '|', '/']).next().unwrap_or(name)
}

/// Splits a name at punctuation, at digits, and where a capital follows a small letter. Returns small letters, without numbers.
pub fn words_of(name: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut last = ' ';
    let characters: Vec<char> = name.chars().collect();
    for (index, &character) in characters.iter().enumerate() {
        let starts_word = character.is_uppercase()
            && (last.is_lowercase()
                || last.is_uppercase() && characters.get(index + 1).is_some_and(|next| next.is_lowercase()));
        if character.is_alphabetic() {
            if !last.is_alphabetic() || starts_word {
                parts.push(String::new());
            }
            if let Some(part) = parts.last_mut() {
                part.extend(character.to_lowercase());
            }
        }
        last = character;
    }
    parts
}

/// Returns the side that a part of a name is or begins with, and the rest of the part.
fn split_side(part: &str) -> (Option<Side>, &str) {
    for (side, words) in [(Side::Left, ["left", "lft", "lf", "l"]), (Side::Right, ["right", "rgt", "rt", "r"])] {
        if words.contains(&part) {
            return (Some(side), "");
        }
        if let Some(rest) = part.strip_prefix(words[0]) {
            return (Some(side), rest);
        }
    }
    (None, part)
}
