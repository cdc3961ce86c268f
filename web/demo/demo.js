// What every page of the demo's applications does: it asks whether it may stay.

const EVERY_MS = 1000;
const main = document.querySelector("main[data-subject]");
const trouble = document.getElementById("trouble");

async function ask() {
  const response = await fetch("/alive", { cache: "no-store" })
    .catch(() => undefined);
  if (response?.status === 401) {
    const subject = encodeURIComponent(main.dataset.subject);
    location.replace(`/closed?subject=${subject}`);
    return;
  }
  // An answer that does not come says nothing about the person.
  const text = response?.ok
    ? ""
    : "The login does not answer. This page tries again.";
  if (trouble.textContent !== text) trouble.textContent = text;
}

async function watch() {
  for (;;) {
    await new Promise((go) => {
      setTimeout(go, EVERY_MS);
      // A page that nobody sees is slowed down; then it asks when it is seen.
      document.addEventListener("visibilitychange", go, { once: true });
    });
    await ask();
  }
}

if (main !== null) watch();
