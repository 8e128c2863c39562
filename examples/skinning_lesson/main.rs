//! `cargo run --example skinning_lesson` writes the figures of `docs/skinning.md` and its pages: the drawings in `docs/pictures`
//! and the numbers after their markers. `tests/repository/docs.rs` checks that both are up to date. With the name of a folder,
//! it writes the two wrong walkers there instead.

mod lesson;

use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    if let Some(folder) = std::env::args_os().nth(1) {
        for (file_name, glb) in lesson::wrong_walkers(&fs::read(package.join("assets/walker.glb"))?)? {
            fs::write(Path::new(&folder).join(file_name), glb)?;
        }
        return Ok(());
    }
    let docs = package.join("docs");
    let lesson = lesson::lesson()?;
    for drawing in &lesson.drawings {
        fs::write(docs.join("pictures").join(drawing.file_name), &drawing.svg)?;
    }
    let mut pages = lesson::PAGES.map(|_| String::new());
    for (text, page) in pages.iter_mut().zip(lesson::PAGES) {
        *text = fs::read_to_string(docs.join(page))?;
    }
    for (text, page) in lesson::with_numbers(pages, &lesson.numbers)?.iter().zip(lesson::PAGES) {
        fs::write(docs.join(page), text)?;
    }
    println!("{} drawings, {} blocks of numbers", lesson.drawings.len(), lesson.numbers.len());
    Ok(())
}
