/**
 * The script of `/docs`: copies commands and asks this service. The page reads
 * well without it. Whatever comes in an answer is shown as text.
 *
 * @module
 */

/** The token that is typed, for requests of this page; it is kept nowhere else. */
const tokenInput = document.getElementById("token");
tokenInput?.parentElement.removeAttribute("hidden");

for (const block of document.querySelectorAll(".command")) {
  // Clipboards exist on https and on localhost only.
  if (!navigator.clipboard) break;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(
      block.querySelector("code").textContent,
    );
    button.textContent = "Copied";
    setTimeout(() => button.textContent = "Copy", 2000);
  });
  block.append(button);
}

for (const form of document.querySelectorAll("form.try")) {
  const [method, path] = [form.dataset.method, form.dataset.path];
  const body = form.querySelector("textarea");
  const answer = form.querySelector("output");
  form.closest("[hidden]")?.removeAttribute("hidden");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      answer.replaceChildren(...await ask(method, path, body?.value));
    } finally {
      button.disabled = false;
    }
  });
}

/** Asks this service, and shows what it answers. */
async function ask(method, path, body) {
  const headers = {};
  if (body !== undefined) headers["content-type"] = "application/json";
  if (tokenInput?.value) headers.authorization = `Bearer ${tokenInput.value}`;
  const began = performance.now();
  try {
    const response = await fetch(path, { method, headers, body });
    const text = await response.text();
    const took = Math.round(performance.now() - began);
    return [
      element("p", `${response.status} ${response.statusText}, ${took} ms`),
      element("pre", indent(text)),
    ];
  } catch {
    // What went wrong is told to no script.
    return [element("p", "The service can't be reached, or did not answer.")];
  }
}

function indent(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  if (name === "pre") made.tabIndex = 0;
  return made;
}

// On narrow screens the routes are folded away, and a tap shows them.
const routes = document.querySelector("nav details");
if (matchMedia("(max-width: 56rem)").matches) routes.open = false;
