// Finds the figures of a page and loads their scripts. Without this script, or if a figure fails, the pictures stay.
// This is a plain script, because a book adds no modules. It loads nothing outside of its own folder.
for (const figure of document.querySelectorAll("[data-figure]")) {
    const name = figure.dataset.figure;
    import(`./${name}.js`).then(async module => {
        figure.append(...await module.default(figure.dataset));
        figure.classList.add("ready");
    }).catch(error => console.error(`figure ${name}:`, error));
}
// Keys belong to what has the focus. Otherwise the arrow keys turn the pages of the book.
document.body.addEventListener("keydown", event => event.target.closest("[data-figure],[tabindex]") && event.stopPropagation());
